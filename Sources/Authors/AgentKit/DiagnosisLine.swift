package import DBus
internal import Linux
internal import Localization

/// A line of a diagnosis: the subject, its state and a remedy.
package struct DiagnosisLine: Hashable, Sendable {
    package let name: String
    /// `ok`, `warning`, `failed`, or a word of a later version.
    package let state: String
    /// An English sentence of the service.
    package let message: String
    /// An English sentence of the service; may be empty.
    package let remedy: String
    /// The message in the user's language.
    package let title: String
    /// The remedy in the user's language; may be empty.
    package let advice: String

    /// Decodes a finding and strips control characters from its texts.
    package init(_ entry: [String: Variant]) {
        let text = { (key: String) in plainText(entry[key]?.asString ?? "", limit: 1024) }
        name = text("name")
        state = text("state")
        message = text("message")
        remedy = text("remedy")
        title = Self.translation(of: "message", in: entry) ?? serviceText(message)
        advice = Self.translation(of: "remedy", in: entry) ?? serviceText(remedy)
    }

    /// Translates a sentence with separate values; nil without a format.
    private static func translation(of key: String, in entry: [String: Variant]) -> String? {
        guard let format = entry[key + "-format"]?.asString else { return nil }
        let values = (entry[key + "-values"]?.asStrings ?? [])
            .map { serviceText(plainText($0, limit: 1024)) }
        let words = Localization.translation(of: plainText(format, limit: 1024))
        return filled(words, values)
    }

    /// Creates a finding of the client itself.
    package init(name: String, state: String, message: String, remedy: String = "") {
        (self.name, self.state, self.message, self.remedy) = (name, state, message, remedy)
        (title, advice) = (message, remedy)
    }

    /// Lists open cameras of the user's own processes, which the service cannot inspect.
    package static func cameras() -> [DiagnosisLine] {
        FileHolder.all(of: Set((0..<64).map { "/dev/video\($0)" }))
            .map { holder in
                let program = plainText(holder.program, limit: 64)
                let (pid, path) = ("\(holder.pid)", holder.path)
                let message =
                    program.isEmpty
                    ? localized("Process %1$s has the camera %2$s open.", pid, path)
                    : localized(
                        "%1$s (process %2$s) has the camera %3$s open.",
                        program,
                        pid,
                        path
                    )
                return DiagnosisLine(name: "camera", state: "ok", message: message)
            }
    }

    /// The state in the user's language.
    package var stateTitle: String {
        switch state {
        case "ok": localized("ok")
        case "warning": localized("warning")
        case "failed": localized("failed")
        default: state
        }
    }

    /// Whether this finding is no failure; an unknown state of a later version counts as a failure.
    package var isPassed: Bool { state == "ok" || state == "warning" }

    package var needsRemedy: Bool { state != "ok" && !remedy.isEmpty }
}

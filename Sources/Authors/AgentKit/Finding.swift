package import DBus
internal import Linux
internal import Localization

/// One line of a diagnosis: what was looked at, how it stands, and what to do.
package struct Finding: Hashable, Sendable {
    /// What was looked at.
    package let name: String
    /// `ok`, `warning`, `failed`, or a word of a later version.
    package let state: String
    /// What was found, in the service's words.
    package let message: String
    /// What to do about it, in the service's words; may be empty.
    package let remedy: String

    /// A line of the service.
    package init(_ entry: [String: Variant]) {
        let text = { (key: String) in plainText(entry[key]?.asString ?? "", limit: 1024) }
        name = text("name")
        state = text("state")
        message = text("message")
        remedy = text("remedy")
    }

    private init(name: String, state: String, message: String) {
        (self.name, self.state, self.message, remedy) = (name, state, message, "")
    }

    /// Who has a camera open, among the processes that the person may look at: the service sees
    /// none of theirs.
    package static func cameras() -> [Finding] {
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
                return Finding(name: "camera", state: "ok", message: message)
            }
    }

    /// Its state in the user's language.
    package var stateTitle: String {
        switch state {
        case "ok": localized("ok")
        case "warning": localized("warning")
        case "failed": localized("failed")
        default: state
        }
    }

    /// Whether nothing is broken; an unknown state of a later version counts as a failure.
    package var isPassed: Bool { state == "ok" || state == "warning" }

    /// Whether there is something to do.
    package var needsRemedy: Bool { state != "ok" && !remedy.isEmpty }
}

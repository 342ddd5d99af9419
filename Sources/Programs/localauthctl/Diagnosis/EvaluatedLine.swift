import AgentKit
import DBus
import Glibc
import LocalAuthClient
import Localization

struct EvaluatedLine: Sendable {
    let app: String
    let detail: [(String, JSON)]
    let text: String

    init(_ record: [String: Variant]) {
        let word = { (key: String) in plainText(record[key]?.asString ?? "", limit: 128) }
        let time = record["time"]?.asUInt64 ?? 0
        let number = record["policy"]?.asUInt32 ?? 0
        let policy = AuthenticationPolicy(rawValue: number)?.name ?? "policy \(number)"
        let attempts = record["attempts"]?.asUInt32 ?? 0
        let uid = record["uid"]?.asUInt32 ?? 0
        let pid = record["pid"]?.asUInt32 ?? 0
        app = word("app-name")
        detail = [
            ("time", .int(Int64(clamping: time))), ("uid", .int(Int64(uid))),
            ("session", .string(word("session"))), ("process", .string(word("process"))),
            ("pid", .int(Int64(pid))), ("policy", .string(policy)),
            ("outcome", .string(word("outcome"))), ("mechanism", .string(word("mechanism"))),
            ("sensor", .string(word("sensor"))), ("attempts", .int(Int64(attempts))),
        ]
        let sensor = word("sensor").isEmpty ? "" : " (\(word("sensor")))"
        let outcome =
            word("mechanism").isEmpty
            ? word("outcome") + sensor
            : localized("%1$s by %2$s", word("outcome"), mechanismTitle(word("mechanism")))
                + sensor
        let failed = localizedCount(
            "%1$s failed attempt",
            "%1$s failed attempts",
            Int(attempts)
        )
        text =
            Self.timeOfDay(time) + " "
            + localized(
                "evaluated %1$s for user %2$s: %3$s, %4$s, %5$s",
                app.isEmpty ? localized("process %1$s", "\(pid)") : app,
                "\(uid)",
                policy,
                outcome,
                failed
            )
    }

    private static func timeOfDay(_ microseconds: UInt64) -> String {
        var moment = Int(clamping: microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "--:--:--" }
        return [parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}

import BusBench
import DBus
import Glibc
import SensorContract

/// Reports results: as lines while the checks run, or as one JSON object at the end.
@BusActor final class Report {
    private let isJSON: Bool
    private struct Result {
        let sentence: String
        let line: ContractLine?
        let outcome: CheckOutcome
        let time: Duration
    }

    private var subject: [(String, String)] = []
    private var results: [Result] = []
    private var latencies: [Latency] = []

    nonisolated init(isJSON: Bool) { self.isJSON = isJSON }

    func begin(_ subject: Subject) {
        self.subject = [("sensor", subject.name), ("description", subject.description)]
        say("org.localauth.Sensor1.\(subject.name): \(subject.description)")
    }

    func begin(_ prompt: PromptFixture) {
        let command = prompt.program.joined(separator: " ")
        subject = [("prompt", command)]
        say("org.localauth.Agent1: \(command)")
    }

    func make<Bench>(_ checks: [ContractCheck<Bench>], _ fixture: Bench.Fixture) async {
        for check in checks {
            let start = ContinuousClock.now
            let outcome = await check.outcome(fixture)
            let time = ContinuousClock.now - start
            add(
                Result(
                    sentence: check.description,
                    line: check.line,
                    outcome: outcome,
                    time: time
                )
            )
        }
    }

    private func add(_ result: Result) {
        results.append(result)
        let check = result.sentence
        switch result.outcome {
        case .passed: say("  ok      \(check)")
        case .notApplicable(let why): say("  --      \(check): \(why)")
        case .failed(let why):
            say("  FAILED  \(check)")
            for line in why.split(separator: "\n") { say("          \(line)") }
        }
        if let line = result.line { say("          [\(line)]") }
    }

    /// Measures latencies; returns whether that was possible.
    ///
    /// A failure here still leaves the summary of the checks.
    func measure(_ fixture: SensorFixture) async -> Bool {
        do {
            add(try await Latency.measure(fixture))
            return true
        } catch {
            complain("localauth-sensor-check: no latencies: \(error)")
            return false
        }
    }

    private func add(_ latencies: [Latency]) {
        self.latencies = latencies
        say("\nLatency, median and worst in milliseconds:")
        for row in latencies {
            let times = "\(Self.text(row.median))  \(Self.text(row.worst))"
            say("  \(times)  \(row.what) (\(row.times.count))")
        }
    }

    /// Reports how many checks hold; returns whether all do.
    func end() -> Bool {
        let failed = count { if case .failed = $0 { true } else { false } }
        let open = count { if case .notApplicable = $0 { true } else { false } }
        let passed = results.count - failed - open
        say("\n\(passed) checks hold, \(failed) don't, \(open) do not apply.")
        if isJSON { print(json(passed, failed, open)) }
        return failed == 0
    }

    private func count(_ isSo: (CheckOutcome) -> Bool) -> Int {
        results.count { isSo($0.outcome) }
    }

    private func say(_ line: String) {
        guard !isJSON else { return }
        print(line)
        fflush(nil)
    }

    // MARK: JSON

    private func json(_ passed: Int, _ failed: Int, _ open: Int) -> String {
        let checks = results.map { result -> String in
            let (word, why) = Self.words(result.outcome)
            return Self.object([
                ("check", Self.quoted(result.sentence)),
                ("place", Self.quoted(result.line?.place ?? "")),
                ("line", Self.quoted(result.line?.text ?? "")),
                ("result", Self.quoted(word)), ("message", Self.quoted(why)),
                ("milliseconds", Self.milliseconds(result.time)),
            ])
        }
        let rows = latencies.map { row -> String in
            Self.object([
                ("what", Self.quoted(row.what)), ("median", Self.milliseconds(row.median)),
                ("worst", Self.milliseconds(row.worst)), ("count", "\(row.times.count)"),
            ])
        }
        let head = subject.map { ($0.0, Self.quoted($0.1)) }
        return Self.object(
            head + [
                ("passed", "\(passed)"), ("failed", "\(failed)"), ("notApplicable", "\(open)"),
                ("checks", "[" + checks.joined(separator: ",\n") + "]"),
                ("latency", "[" + rows.joined(separator: ",\n") + "]"),
            ]
        )
    }

    private static func words(_ outcome: CheckOutcome) -> (String, String) {
        switch outcome {
        case .passed: ("passed", "")
        case .notApplicable(let why): ("notApplicable", why)
        case .failed(let why): ("failed", why)
        }
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(quoted($0.0)): \($0.1)" }.joined(separator: ", ") + "}"
    }

    private static func quoted(_ text: String) -> String {
        let parts = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": return "\\\(scalar)"
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}":
                let digits = String(scalar.value, radix: 16)
                return "\\u00" + (digits.count < 2 ? "0" : "") + digits
            default: return String(scalar)
            }
        }
        return "\"\(parts.joined())\""
    }

    private static func milliseconds(_ time: Duration) -> String {
        let tenths = Int(time / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func text(_ time: Duration) -> String {
        let text = milliseconds(time)
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}

func complain(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

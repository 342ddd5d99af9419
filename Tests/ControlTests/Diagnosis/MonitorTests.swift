import DBus
import Foundation
import TestSupport
import Testing

/// Tests the output of `localauthctl monitor` about evaluations.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MonitorTests {
    private static let granted: [String: Variant] = [
        "time": .uint64(1_700_000_000_000_000), "uid": .uint32(1000), "session": .string("c1"),
        "app-name": .string("Bank"), "process": .string("bank"), "pid": .uint32(77),
        "policy": .uint32(2), "outcome": .string("Success"), "mechanism": .string("biometry"),
        "sensor": .string("Fingerprint"), "attempts": .uint32(1),
    ]
    private static let hostile: [String: Variant] = [
        "app-name": .string("x\n00:00:00 evaluated Bank\u{1B}[2J"), "policy": .uint32(9),
        "outcome": .string("UserCancel"), "attempts": .uint32(0),
    ]

    /// Starts `monitor`, emits the events above and returns the lines about evaluations.
    private func lines(_ arguments: [String]) async throws -> [String] {
        let bus = try PrivateBus()
        let service = try await onBus { try StandInService(bus) }
        let process = try ChildProcess(
            ["localauthctl", "monitor", "--bus", bus.address] + arguments,
            hasStream: true,
            mergesErrors: true,
            hasSession: true
        )
        while try await onBus({ await service.next() }) != .monitored {}
        try await onBus {
            service.tellEvaluated(Self.granted)
            service.tellEvaluated(Self.hostile)
        }
        var lines: [String] = []
        while let line = try process.line() {
            lines.append(line)
            if line.contains("UserCancel") { break }
        }
        process.signal(SIGTERM)
        #expect(try process.wait() == 0)
        try await onBus { service.leave() }
        return lines.filter { $0.contains("evaluated") }
    }

    @Test("An evaluation is one line: time, app, policy, outcome, mechanism, sensor and attempts")
    func text() async throws {
        let lines = try await lines([])
        #expect(lines.count == 2)
        let end =
            " evaluated Bank for user 1000: biometrics-or-passcode, Success by biometry"
            + " (Fingerprint), 1 failed attempt"
        #expect(lines.first?.hasSuffix(end) == true)
        #expect(lines.first?.prefix(8).filter { $0 == ":" }.count == 2)
        #expect(lines.last?.contains("\u{1B}") == false)
        #expect(lines.last?.contains("policy 9, UserCancel, 0 failed attempts") == true)
    }

    @Test("With --json each line is an object")
    func json() async throws {
        let objects = try await lines(["--json"])
            .map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(objects.count == 2)
        let detail = objects.first??["detail"] as? [String: Any]
        #expect(objects.first??["event"] as? String == "evaluated")
        #expect(objects.first??["subject"] as? String == "Bank")
        #expect(detail?["outcome"] as? String == "Success")
        #expect(detail?["policy"] as? String == "biometrics-or-passcode")
        #expect(detail?["sensor"] as? String == "Fingerprint")
        #expect(detail?["attempts"] as? Int == 1)
        #expect(detail?["time"] as? Int == 1_700_000_000_000_000)
    }
}

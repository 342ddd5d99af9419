import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// What is done in the turn of the loop in which a call arrives, and what is not.
@Suite("In one turn", .timeLimit(.minutes(10)))
struct SameTurnTests {
    @Test("L11b: CanEvaluate of every policy is answered in the turn in which it arrives")
    func canEvaluate() async throws {
        try await AuditBench.run { bench in
            let peer = try await bench.service.connection.peer(named: bench.client.uniqueName)
            @BusActor func isAnsweredNow(_ policy: Policy) -> Bool {
                if case .now = bench.service.evaluations.canEvaluate(policy, for: peer) {
                    return true
                }
                return false
            }
            // Nothing was told yet, so that somebody is to be asked.
            #expect(Policy.allCases.allSatisfy { !isAnsweredNow($0) })
            for policy in Policy.allCases {
                _ = try await bench.manager().canEvaluate(policy: policy.rawValue)
            }
            #expect(Policy.allCases.allSatisfy { isAnsweredNow($0) })
            bench.verifier.tellChange()
            try await eventually("the change") { !isAnsweredNow(.biometricsOrPasscode) }
        }
    }

    @Test("What is kept of an evaluation goes with its answer")
    func answered() async throws {
        try await AuditBench.run { bench in
            await expectName(.notInteractive) {
                _ = try await bench.manager().evaluate(policy: 2, reason: "x", options: [:])
            }
            #expect(bench.service.evaluations.pending.isEmpty)
        }
    }

    @Test("L21: an Enroll that is refused for want of room leaves nothing behind")
    func refusedEnrolment() async throws {
        try await AuditBench.run { bench in
            let sensor = ScriptedSensor("Third", on: try bench.bus.connect())
            try sensor.appear()
            try await eventually("the sensor") { bench.service.devices[sensor.name] != nil }
            let device = try #require(bench.service.devices[sensor.name])
            let proxy = Device1Proxy(
                bench.client,
                destination: TestDaemon.name,
                path: device.path
            )
            try await eventually("the sensor to be usable") { try await proxy.available() }
            let quota = try #require(bench.service.connection.quota)
            let rest = MethodQuotas.bytesPerUser - quota.bytes(of: getuid())
            try quota.hold(rest, of: getuid())
            for _ in 0..<3 {
                await expectName(.limitsExceeded) {
                    _ = try await proxy.enroll(
                        label: "thumb",
                        options: ["timeout": .uint64(600_000)]
                    )
                }
            }
            #expect(device.calls.isEmpty)
            quota.release(rest, of: getuid())
        }
    }
}

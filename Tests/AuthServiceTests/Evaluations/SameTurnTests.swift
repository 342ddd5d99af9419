import AuthStore
import BusGuard
import DBus
import Dispatch
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthEngine
@testable import AuthService

/// Which work runs in the loop turn of the call, and which does not.
@Suite("Work in one turn of the loop", .timeLimit(.minutes(10)))
struct SameTurnTests {
    @Test("L11b: CanEvaluate of every policy is answered in its turn if the cache is fresh")
    func canEvaluate() async throws {
        try await AuditBench.run { bench in
            let peer = try await bench.service.connection.peer(named: bench.client.uniqueName)
            @BusActor func isAnsweredNow(_ policy: Policy) -> Bool {
                if case .now = bench.service.evaluations.canEvaluate(policy, for: peer) {
                    return true
                }
                return false
            }
            // No answer is cached yet, so every policy needs a query.
            #expect(Policy.allCases.allSatisfy { !isAnsweredNow($0) })
            for policy in Policy.allCases {
                _ = try await bench.manager().canEvaluate(policy: policy.rawValue)
            }
            #expect(Policy.allCases.allSatisfy { isAnsweredNow($0) })
            bench.verifier.tellChange()
            try await eventually("the change") { !isAnsweredNow(.biometricsOrPasscode) }
        }
    }

    @Test("L17: CanEvaluate and Diagnose report a lockout only after it is on the disk")
    func unwrittenLockout() async throws {
        try await AuditBench.run { bench in
            let peer = try await bench.service.connection.peer(named: bench.client.uniqueName)
            let (sensor, _) = try await bench.sensor(for: peer.uid)
            #expect(try await bench.manager().canEvaluate(policy: 1).code == 0)
            let (evaluations, disk) = (bench.service.evaluations, DispatchSemaphore(value: 0))
            // Block the store's thread until the semaphore is signalled.
            bench.store.save(UserRecord(), uid: 4_000_000_000) { _ in disk.wait() }
            // Signal in any case, because closing the store waits for its thread.
            defer { disk.signal() }
            evaluations.handle(.passcodeRequired(uid: peer.uid, cause: .remote("")))
            let told = EventRecorder<Int32?>()
            let answers = [
                onLoop { told.record(try? await bench.manager().canEvaluate(policy: 1).code) },
                onLoop {
                    _ = try? await bench.manager().diagnose()
                    told.record(nil)
                },
            ]
            _ = try await sensor.calls.first("the diagnosis") { $0 == "Health" }
            for _ in 0..<50 { _ = try await bench.manager().version() }
            #expect(told.seen.isEmpty)
            disk.signal()
            for answer in answers { await answer.value }
            #expect(Set(told.seen) == [-8, nil])
            #expect(evaluations.engine.isWritten(peer.uid))
        }
    }

    /// How a sensor ends an operation.
    private enum SensorEnd: CaseIterable {
        case matched
        case impeded
        case refused
    }

    @Test("An answered evaluation leaves no state behind")
    func answered() async throws {
        try await AuditBench.run { bench in
            let (evaluations, sensors) = (bench.service.evaluations, bench.service.sensors)
            await expectName(.notInteractive) {
                _ = try await bench.manager().evaluate(policy: 2, reason: "x", options: [:])
            }
            #expect(evaluations.pending.isEmpty)
            let person = try await Person(bus: bench.bus)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            for (number, end) in SensorEnd.allCases.enumerated() {
                let answer = onLoop {
                    _ = try? await bench.manager(person.connection)
                        .evaluate(policy: 1, reason: "x", options: [:])
                }
                let operation = try await sensor.operation(number)
                #expect(evaluations.prompts.count == 1 && evaluations.runningSensors.count == 1)
                switch end {
                case .matched: operation.succeed(template)
                case .impeded: sensors.surroundings = Surroundings(isLidClosed: true)
                case .refused: operation.fail(.sensorFailed)
                }
                await answer.value
                #expect(evaluations.pending.isEmpty && evaluations.prompts.isEmpty, "\(end)")
                #expect(evaluations.runningSensors.isEmpty, "\(end)")
                sensors.surroundings = Surroundings()
            }
            person.connection.close()
        }
    }

    @Test("A departed connection leaves no state of its contexts behind")
    func departed() async throws {
        try await AuditBench.run { bench in
            let evaluations = bench.service.evaluations
            let app = try bench.bus.connect()
            let context = Context1Proxy(
                app,
                destination: TestDaemon.name,
                path: try await bench.manager(app).createContext(properties: [:])
            )
            try await context.invalidate()
            #expect(evaluations.engine.contexts.count == 1)
            app.close()
            try await eventually("the context to be forgotten") {
                evaluations.engine.contexts.isEmpty
            }
        }
    }

    @Test("L21: an Enroll refused by a quota leaves no state behind")
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
            let quota = bench.service.neighbours.quota
            let (calls, bytes) = (quota.calls(of: getuid()), quota.bytes(of: getuid()))
            let rest = MethodQuotas.bytesPerUser - bytes
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
            #expect(quota.calls(of: getuid()) == calls && quota.bytes(of: getuid()) == bytes)
        }
    }
}

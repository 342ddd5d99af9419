import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// A miss counts, even if messages about it are lost.
@Suite("Misses", .timeLimit(.minutes(10)))
struct MissTests {
    init() { EventLoop.shared.startThread() }

    @Test(
        "L20: with full bus queues every shown wrong finger is counted",
        .enabled(if: !isSanitized, "with a sanitizer the service takes long to read 127 MiB")
    )
    func flooded() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            try await bench.daemon.startSensor(enrolling: nil)
            let sensor = bench.daemon.sensor
            _ = try await sensor.addTemplate(uid: person.peer.uid, label: "finger")
            let call = try bench.begin(person.connection, 1, ["timeout": .uint64(100_000)])
            for await event in call.events where event.kind == "sensor-ready" { break }

            // From here on, no further message reaches the daemon.
            bench.daemon.process.signal(SIGSTOP)
            defer { bench.daemon.process.signal(SIGCONT) }
            try await Self.flood(bench)
            let outcomes = [String](repeating: "no-match", count: 14)
            try await sensor.queue(outcomes: outcomes)
            try await eventually("a finger to be seen") {
                try await sensor.pending().count < outcomes.count
            }
            // By this point the bus has dropped signals that were sent meanwhile.
            for _ in 0..<3 { _ = try await sensor.pending() }
            bench.daemon.process.signal(SIGCONT)

            await expectName(.authenticationFailed) { _ = try await call.reply() }
            let shown = outcomes.count - (try await sensor.pending().count)
            let counted = person.updates.seen.filter { $0.kind == "no-match" }.count
            print("shown \(shown), counted \(counted)")
            #expect(shown == 3 && counted == shown)
        }
    }

    /// Sends the daemon more than a bus queues for a connection (127 MiB).
    ///
    /// Two senders are needed, because a bus also limits each sender.
    @BusActor private static func flood(_ bench: ServiceBench) async throws {
        let part = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<2 {
            let flooder = try bench.bus.connect()
            for _ in 0..<5 {
                flooder.emit(
                    path: TestDaemon.root,
                    interface: "org.example.Flood",
                    member: "Flood",
                    signature: String(repeating: "ay", count: 15),
                    to: bench.daemon.owner
                ) { writer throws(DBusError) in
                    for _ in 0..<15 { try writer.write(part) }
                }
            }
            // After this reply, the bus has all messages.
            _ = try await flooder.nameOwner(TestDaemon.name)
        }
        await expectName(.limitsExceeded) {
            _ = try await bench.manager(try bench.bus.connect()).version()
        }
    }

    @Test(
        "L20: a miss returns the remaining attempts, and each number counts once, in order"
    )
    func numbers() async throws {
        try await ServiceBench.run { bench in
            let (_, sensor, call) = try await Self.looking(bench)
            let operation = try await sensor.operation()
            for attempt: UInt32 in [0, 2, .max] {
                await expectName(.invalidArgs) {
                    _ = try await sensor.miss(operation, attempt: attempt)
                }
            }
            var left: [UInt32] = []
            for attempt: UInt32 in [1, 1, 1, 2, 1, 2, 3] {
                left.append(try await sensor.miss(operation, attempt: attempt))
            }
            #expect(left == [2, 2, 2, 1, 1, 1, 0])
            await expectName(.authenticationFailed) { _ = try await call.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }
            await expectName(.invalidArgs) { _ = try await sensor.miss(operation, attempt: 3) }
            await expectName(.invalidArgs) { _ = try await sensor.miss(operation, attempt: 4) }
        }
    }

    @Test("L20: an enrolment has no misses")
    func enrolment() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let enrolment = onLoop {
                _ = try? await bench.device().enroll(label: "finger", options: [:])
            }
            let operation = try await sensor.operation()
            await expectName(.invalidArgs) { _ = try await sensor.miss(operation, attempt: 1) }
            operation.fail(.sensorFailed)
            await enrolment.value
        }
    }

    @Test(
        "L17, L20: a miss that can't be written is answered with an error, and counts",
        .enabled(if: SmallDisk.isPossible)
    )
    func fullDisk() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let (person, sensor, call) = try await Self.looking(bench)
            let operation = try await sensor.operation()
            try disk.fill()
            await expectName(.failed) { _ = try await sensor.miss(operation, attempt: 1) }
            await expectName(.systemCancel) { _ = try await call.reply() }
            await expectName(.invalidArgs) { _ = try await sensor.miss(operation, attempt: 1) }
            try disk.free()
            for (number, attempts) in [3, 1].enumerated() {
                let next = try bench.begin(person.connection)
                try await sensor.miss(try await sensor.operation(number + 1), attempts)
                _ = try? await next.reply()
            }
            #expect(try await bench.canEvaluate(as: person.connection).code == -8)
        }
    }

    @Test("R8: repeated failures of a sensor count as no miss and cause no lockout")
    func failures() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let faults: [DBusError.Name] = [.sensorDenied, .sensorDisconnected, .sensorFailed]
            for number in 0..<6 {
                let call = try bench.begin(person.connection)
                try await sensor.operation(number).fail(faults[number % 3])
                await expectName(.biometryNotAvailable) { _ = try await call.reply() }
            }
            try #require(await bench.canEvaluate(as: person.connection).code == 0)
            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation(6)
            #expect(try await sensor.miss(operation, attempt: 1) == 2)
            operation.succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
        }
    }

    /// Starts an evaluation of a person on a sensor.
    @BusActor private static func looking(
        _ bench: ServiceBench
    ) async throws -> (Person, ScriptedSensor, StreamingCall<[String: Variant]>) {
        let (person, sensor, _) = try await bench.enrolled()
        return (person, sensor, try bench.begin(person.connection))
    }
}

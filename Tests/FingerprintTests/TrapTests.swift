import DBus
import FingerprintRig
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests behaviour of fprintd that a sensor could misinterpret.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct TrapTests {
    init() { EventLoop.shared.startThread() }

    @Test("The no-match that fprintd sends when it is stopped is no miss")
    @BusActor func canceled() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            _ = try await reader.overheard.first("verify-no-match") { $0 == "verify-no-match" }
            #expect(reader.kinds(number) == ["ready"])
        }
    }

    @Test("A status that arrives before the reply to VerifyStart counts")
    @BusActor func early() async throws {
        try await ReaderBench.run([.device]) { reader in
            let id = try await reader.enrollByName("right")
            let polkit = try #require(reader.rig.polkit)
            polkit.questions.forget()
            polkit.think()
            let call = try reader.sensor.verifyStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                options: [:]
            )
            // Claim checks two actions; the third check is VerifyStart's.
            for count in 1...2 {
                try await eventually("Claim to ask polkit") { polkit.questions.seen.count == count }
                polkit.decide()
                polkit.think()
            }
            try await eventually("VerifyStart to ask polkit") { polkit.questions.seen.count == 3 }
            // This driver reports the finger at once.
            try expect(reader.rig.readers[0].command("SCAN right"), "the reader to be open")
            polkit.decide()
            #expect(try await call.reply() == id)
        }
    }

    @Test("A forged match from another connection is ignored")
    @BusActor func forged() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            let forger = try reader.rig.bus.connect()
            let names = try await ReaderBench.names(forger)
            try expect(names.count > 4, "connections to lie to, got \(names)")
            for _ in 0..<20 {
                for name in names.map(Optional.some) + [nil] {
                    ReaderBench.forge(forger, to: name)
                }
            }
            forger.flush()
            // The sensor has received the forged signals before it answers this call.
            _ = try await reader.sensor.health()
            try await reader.rig.waitForFingerNeeded()
            #expect(reader.kinds(number) == ["ready"])
            try await reader.rig.touch(2)
            _ = try await reader.bench.event("no-match", of: number)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }

    @Test("A reader that is unplugged ends the operation, and the sensor is absent")
    @BusActor func unplugged() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            reader.rig.readers[0].unplug()
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorDisconnected)
            try await eventually("the sensor to be away") { try await !reader.sensor.present() }
            #expect(try await reader.sensor.unavailability() == "no-hardware")
            // The sensor may still be listing readers. Sometimes a virtual reader crashes fprintd,
            // and the sensor then reports fprintd's exit.
            var health = try await reader.sensor.health()
            try await eventually("a health that says so, not \(health)") {
                health = try await reader.sensor.health()
                guard reader.rig.fprintd?.isRunning == true else {
                    return health.state == "failed" && health.message.contains("fprintd ended")
                }
                return health.state == "degraded" && health.message.contains("No fingerprint")
            }
        }
    }

    @Test("A reader that is plugged in again belongs to its previous sensor")
    @BusActor func replugged() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            reader.rig.readers[0].unplug()
            _ = try await reader.failure(of: call)
            try await eventually("the sensor to be away") { try await !reader.sensor.present() }
            // A virtual reader cannot be plugged in again, so restart fprintd to find it.
            await reader.rig.fprintd?.end()
            try await reader.rig.startDaemon()
            try await eventually("the sensor to be back") { try await reader.sensor.present() }
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("A protocol error of the driver means a lost reader")
    @BusActor func protocolError() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            reader.rig.readers[0].fail(5)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorDisconnected)
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("A general error is retried, and a lasting error is a fault but no miss")
    @BusActor func generalError() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            for _ in 0..<3 { try await Self.fail(reader) }
            // A scan that works resets the count of errors.
            try await reader.rig.touch(2)
            _ = try await reader.bench.event("no-match", of: number)
            try await Self.fail(reader)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            #expect(reader.kinds(number).count { $0 == "no-match" } == 1)

            let (second, failing) = try await reader.bench.verify()
            for _ in 0..<4 { try await Self.fail(reader) }
            let (error, _) = try await reader.failure(of: failing)
            #expect(error.name == .sensorFailed)
            #expect(!reader.kinds(second).contains("no-match"))
        }
    }

    /// Makes the reader fail, and waits for fprintd's status.
    @BusActor private static func fail(_ reader: ReaderBench) async throws {
        try await reader.rig.waitForFingerNeeded()
        reader.overheard.forget()
        reader.rig.readers[0].fail(0)
        _ = try await reader.overheard.first("an error") { $0 == "verify-unknown-error" }
    }

    @Test("A scan to be repeated gives a hint")
    @BusActor func hints() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            for (code, hint) in [
                (0, "lift-and-retry"), (1, "swipe-too-short"), (2, "center"), (3, "lift-and-retry"),
            ] {
                reader.bench.events.forget()
                try await reader.rig.waitForFingerNeeded()
                reader.rig.readers[0].retry(Int32(code))
                let event = try await reader.bench.event("hint", of: number)
                #expect(event.detail["hint"]?.asString == hint)
            }
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            #expect(!reader.kinds(number).contains("no-match"))
        }
    }

    @Test("An error is logged, and in Health until an operation succeeds")
    @BusActor func notes() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            #expect(try await reader.sensor.health().state == "ok")
            let polkit = try #require(reader.rig.polkit)
            polkit.refused = ["enroll"]
            let call = try reader.sensor.enrollStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                label: "two",
                options: [:]
            )
            let (error, _) = try await reader.failure(of: call)
            let health = try await reader.sensor.health()
            #expect(health == (state: "degraded", message: error.message))
            #expect(health.message.contains("polkit"))
            #expect(reader.bench.program.errors.contains("Fingerprint: \(error.message)\n"))
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
            #expect(try await reader.sensor.health().state == "ok")
        }
    }

    @Test("A Verify right after a cancelled Claim gets the reader")
    @BusActor func canceledInClaim() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            try await reader.rig.waitUntilFree()
            let polkit = try #require(reader.rig.polkit)
            polkit.questions.forget()
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: [:]
            )
            // After Claim's two checks the driver opens the reader.
            try await eventually("Claim to ask polkit") { polkit.questions.seen.count >= 2 }
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            let next = try reader.sensor.verifyStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                options: [:]
            )
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("A claim granted after a cancellation does not keep the reader from others")
    @BusActor func ghostClaim() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let polkit = try #require(reader.rig.polkit)
            polkit.questions.forget()
            polkit.think()
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: [:]
            )
            try await eventually("Claim to ask polkit") { !polkit.questions.seen.isEmpty }
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            // Cancel does not wait for fprintd, which still waits for polkit.
            #expect(error.name == .sensorCanceled)
            polkit.decide()
            let other = try reader.rig.bus.connect()
            try await eventually("another program to get the reader", within: .seconds(60)) {
                (try? await reader.rig.device("Claim", "bob", by: other)) != nil
            }
        }
    }
}

extension ReaderBench {
    static func names(_ connection: Connection) async throws -> [String] {
        let reply = try await connection.call(
            to: "org.freedesktop.DBus",
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus",
            member: "ListNames"
        )
        let names = try reply.read("as") { reader throws(DBusError) in
            try reader.read([String].self)
        }
        return names.filter { $0.hasPrefix(":") }
    }

    static func forge(_ connection: Connection, to destination: String?) {
        connection.emit(
            path: FingerprintRig.path(),
            interface: "net.reactivated.Fprint.Device",
            member: "VerifyStatus",
            signature: "sb",
            to: destination
        ) { writer throws(DBusError) in
            try writer.write("verify-match")
            try writer.write(true)
        }
    }
}

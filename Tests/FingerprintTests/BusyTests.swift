import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct BusyTests {
    init() { EventLoop.shared.startThread() }

    @Test("L25: the sensor waits for a busy reader and scans when it is free")
    @BusActor func waits() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let other = try await Self.claim(reader)
            let (number, call) = try Self.verify(reader)
            _ = try await reader.bench.event("busy", of: number)
            #expect(try await reader.sensor.health().state == "degraded")
            #expect(try await reader.sensor.health().message.contains("in use"))
            #expect(try await reader.templates().map(\.id) == [id])
            try await reader.rig.device("Release", by: other)
            _ = try await reader.bench.event("ready", of: number)
            #expect(reader.kinds(number) == ["busy", "ready"])
            #expect(try await reader.sensor.health().state == "ok")
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }

    @Test("L25: a Verify that waits for the reader can be cancelled, and the next waits too")
    @BusActor func canceled() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let other = try await Self.claim(reader)
            let (number, call) = try Self.verify(reader)
            _ = try await reader.bench.event("busy", of: number)
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            #expect(try await reader.sensor.health().state == "ok")
            let (next, second) = try Self.verify(reader)
            _ = try await reader.bench.event("busy", of: next)
            // A program that disconnects without a Release also frees the reader.
            other.close()
            _ = try await reader.bench.event("ready", of: next)
            try await reader.sensor.cancel(operation: next)
            _ = try await reader.failure(of: second)
        }
    }

    @Test("L25: an enrolment also waits for the reader")
    @BusActor func enrolment() async throws {
        try await ReaderBench.run { reader in
            let other = try await Self.claim(reader)
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await reader.bench.event("busy", of: number)
            try await reader.rig.device("Release", by: other)
            _ = try await reader.bench.event("ready", of: number)
            try await reader.sensor.cancel(operation: number)
            _ = try await reader.failure(of: call)
        }
    }

    @Test("L38: a match is answered first, and the reader is released within a second")
    @BusActor func isFree() async throws {
        try await ReaderBench.run { reader in
            let other = try reader.rig.bus.connect()
            let image = try Fingerprints.image(1)
            var start = ContinuousClock.now
            let id = try await reader.enroll {
                start = .now
                reader.rig.readers[0].touch(image)
            }
            try await Self.claim(reader, by: other, start)
            try await reader.rig.device("Release", by: other)
            var answeredFirst = 0
            // A scan right behind the reply waits for the release of its predecessor.
            for _ in 0..<3 {
                let (_, call) = try await reader.bench.verify()
                try await reader.rig.waitForFingerNeeded()
                try await reader.rig.touch(1, again: true)
                #expect(try await call.reply() == id)
            }
            for _ in 0..<3 {
                let (_, call) = try await reader.bench.verify()
                try await reader.rig.waitForFingerNeeded()
                try await reader.rig.touch(1, again: true)
                #expect(try await call.reply() == id)
                // The virtual reader needs 100 ms to be released.
                let isFree = (try? await reader.rig.device("Claim", "bob", by: other)) != nil
                if !isFree {
                    answeredFirst += 1
                    try await eventually("the release", within: .seconds(5)) {
                        (try? await reader.rig.device("Claim", "bob", by: other)) != nil
                    }
                }
                try await reader.rig.device("Release", by: other)
            }
            #expect(answeredFirst > 0)
            start = .now
            try await reader.sensor.removeTemplate(uid: SensorBench.user, id: id)
            try await Self.claim(reader, by: other, start)
        }
    }

    @Test("Removing a template during a scan is refused as busy, and the template still matches")
    @BusActor func removal() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            try await expectError(.sensorBusy, of: "RemoveTemplate") {
                try await reader.sensor.removeTemplate(uid: SensorBench.user, id: id)
            }
            try await expectError(.sensorBusy, of: "RemoveAllTemplates") {
                _ = try await reader.sensor.removeAllTemplates(uid: SensorBench.user)
            }
            #expect(try await reader.templates().map(\.id) == [id])
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            #expect(reader.kinds(number) == ["ready"])
        }
    }

    @Test("L25: after the sensor has exited other programs can claim the reader at once")
    @BusActor func isFreeAtTheEnd() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let other = try reader.rig.bus.connect()
            let (number, _) = try Self.verify(reader)
            _ = try await reader.bench.event("ready", of: number)
            let start = ContinuousClock.now
            reader.bench.program.signal(SIGTERM)
            #expect(try await reader.bench.program.exitStatus() == 0)
            try await Self.claim(reader, by: other, start, waits: .milliseconds(600))
        }
    }

    /// Claims the reader for another program after the sensor has finished.
    ///
    /// The sensor waits at most `waits` for fprintd's Release. If a busy machine took longer since
    /// `start`, the reader may become free a little later.
    @BusActor private static func claim(
        _ reader: ReaderBench,
        by other: Connection,
        _ start: ContinuousClock.Instant,
        waits limit: Duration = .seconds(1)
    ) async throws {
        let took = ContinuousClock.now - start
        do {
            try await reader.rig.device("Claim", "bob", by: other)
        } catch {
            guard took >= limit else { throw error }
            try await eventually("another program to get the reader") {
                (try? await reader.rig.device("Claim", "bob", by: other)) != nil
            }
        }
    }

    @BusActor private static func claim(_ reader: ReaderBench) async throws -> Connection {
        let other = try reader.rig.bus.connect()
        try await eventually("another program to get the reader") {
            (try? await reader.rig.device("Claim", "bob", by: other)) != nil
        }
        return other
    }

    @BusActor private static func verify(
        _ reader: ReaderBench
    ) throws -> (UInt64, StreamingCall<String>) {
        let number = reader.bench.nextOperation()
        let call = try reader.sensor.verifyStream(
            operation: number,
            uid: SensorBench.user,
            options: [:]
        )
        return (number, call)
    }
}

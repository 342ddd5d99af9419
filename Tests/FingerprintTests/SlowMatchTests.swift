import DBus
import FingerprintRig
import LocalAuthBus
import SensorContract
import Testing

/// fprintd matches on the thread that answers calls: what that must not do to us.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct SlowMatchTests {
    init() { EventLoop.shared.startThread() }

    @Test("A match that keeps fprintd for long blocks nobody, and comes too late after Cancel")
    @BusActor func slow() async throws {
        try await ReaderBench.run { reader in
            let large = try Fingerprints.slow()
            let id = try await reader.enroll(image: large)
            let (number, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            reader.rig.readers[0].touch(large)
            let clock = ContinuousClock()
            let start = clock.now
            // fprintd takes the image, and then no call before it has matched it.
            try await reader.wait("fprintd to be busy") {
                do throws(DBusError) {
                    _ = try await reader.device("GetDevices", within: .milliseconds(100))
                    return false
                } catch { return error.name == .noReply }
            }
            // Whoever had to wait for fprintd would be answered behind the match.
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            #expect(try await reader.sensor.health(timeout: .seconds(1)).state == "ok")
            #expect(try await reader.templates().map(\.id) == [id])
            #expect(reader.overheard.seen.allSatisfy { $0 != "verify-match" }, "it still matches")

            _ = try await reader.overheard.first("the match", within: .seconds(20)) {
                $0 == "verify-match"
            }
            print("fprintd matched for \(clock.now - start)")
            #expect(reader.kinds(number) == ["ready"])
            // The next one waits for the reader, and is not confused by what was before.
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(2)
            let second = try await reader.bench.events.first("a no-match") { $0.kind == "no-match" }
            #expect(second.operation != number)
            next.cancel()
        }
    }

    @Test("A reader that can't be stopped does not hold up Cancel")
    @BusActor func uncancelable() async throws {
        try await ReaderBench.run([.device]) { reader in
            let id = try await reader.enrollByName("right")
            let (number, call) = try await reader.bench.verify()
            reader.rig.readers[0].command("SET_CANCELLATION_ENABLED 0")
            reader.rig.readers[0].command("SLEEP 1500")
            reader.rig.readers[0].command("SCAN right")
            try await reader.sensor.cancel(operation: number)
            let (error, after) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            #expect(after < .milliseconds(500))
            #expect(reader.kinds(number) == ["ready"])
            #expect(try await reader.templates().map(\.id) == [id])
        }
    }
}

extension ReaderBench {
    /// Calls the manager of fprintd.
    func device(_ member: String, within limit: Duration) async throws(DBusError) -> Message {
        try await rig.client.call(
            to: "net.reactivated.Fprint",
            path: ObjectPath(trusted: "/net/reactivated/Fprint/Manager"),
            interface: "net.reactivated.Fprint.Manager",
            member: member,
            timeout: limit
        )
    }

    /// Enrols a finger of the device driver, whose fingers are names.
    func enrollByName(_ name: String, user: UInt32 = SensorBench.user) async throws -> String {
        try await enroll(user: user) { self.rig.readers[0].command("SCAN \(name)") }
    }
}

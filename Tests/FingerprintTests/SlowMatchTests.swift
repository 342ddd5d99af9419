import DBus
import FingerprintRig
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// fprintd matches on the thread that answers calls: what that must not do to us.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct SlowMatchTests {
    init() { EventLoop.shared.startThread() }

    @Test("A match that keeps fprintd for long blocks nobody, and comes too late after Cancel")
    @BusActor func slow() async throws {
        try await ReaderBench.run { reader in
            let large = try Fingerprints.slow()
            let id = try await reader.enroll(image: large)
            let clock = ContinuousClock()
            let start = clock.now
            let number = try await reader.canceled(large)
            #expect(try await reader.sensor.health(timeout: .seconds(20)).state == "ok")
            #expect(!reader.overheard.seen.contains("verify-match"))
            #expect(try await reader.templates().map(\.id) == [id])
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
            reader.rig.readers[0].command("SET_CANCELLATION_ENABLED 0")
            // On a busy machine the match can be over before Cancel is there: then once more.
            for _ in 0..<8 {
                let (number, call) = try await reader.bench.verify()
                reader.rig.readers[0].command("SLEEP 5000")
                reader.rig.readers[0].command("SCAN right")
                try await reader.sensor.cancel(operation: number)
                guard let (error, after) = try? await reader.failure(of: call) else { continue }
                #expect(error.name == .sensorCanceled)
                #expect(after < .seconds(4), "it waited for the reader")
                #expect(reader.kinds(number) == ["ready"])
                #expect(try await reader.templates().map(\.id) == [id])
                return
            }
            Issue.record("Cancel never came before the match")
        }
    }
}

extension ReaderBench {
    /// Cancels a Verify while fprintd matches; the number of its operation.
    ///
    /// On a busy machine the match can be over before Cancel is there: then once more.
    func canceled(_ image: Fingerprints.Image) async throws -> UInt64 {
        for _ in 0..<8 {
            overheard.forget()
            let (number, call) = try await bench.verify()
            try await rig.waitForFingerNeeded()
            rig.readers[0].touch(image)
            // fprintd takes the image, and then no call before it has matched it. A busy machine
            // may ask only when that is over.
            try await eventually("fprintd to be busy, or done") {
                if self.overheard.seen.contains("verify-match") { return true }
                do throws(DBusError) {
                    _ = try await self.device("GetDevices", within: .milliseconds(100))
                    return false
                } catch { return error.name == .noReply }
            }
            // Whoever had to wait for fprintd would be answered behind the match.
            try await sensor.cancel(operation: number)
            guard let (error, _) = try? await failure(of: call) else { continue }
            #expect(error.name == .sensorCanceled)
            guard overheard.seen.allSatisfy({ $0 != "verify-match" }) else { continue }
            return number
        }
        throw TestFailure("expected Cancel to come before the match once in eight times")
    }

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

import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests that fprintd's slow matches do not block the sensor: fprintd matches on its main thread.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct SlowMatchTests {
    init() { EventLoop.shared.startThread() }

    @Test("A slow match blocks no call, and its result after Cancel is ignored")
    @BusActor func slow() async throws {
        try await ReaderBench.run { reader in
            let large = try Fingerprints.slow()
            let id = try await reader.enroll(image: large)
            let fprintd = try #require(reader.rig.fprintd)
            defer { fprintd.signal(SIGCONT) }
            let number = try await reader.canceled(large, fprintd) {
                let health = try await reader.sensor.health(timeout: .seconds(60))
                let isListed = try await reader.templates().map(\.id) == [id]
                return health.state == "ok" && isListed
            }
            fprintd.signal(SIGCONT)
            _ = try await reader.overheard.first("the match", within: .seconds(60)) {
                $0 == "verify-match"
            }
            #expect(reader.kinds(number) == ["ready"])
            // The next Verify waits for the reader, and the late match does not affect it.
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(2)
            let second = try await reader.bench.events.first("a no-match") { $0.kind == "no-match" }
            #expect(second.operation != number)
            next.cancel()
        }
    }

    @Test("A reader that cannot be stopped does not delay Cancel")
    @BusActor func uncancelable() async throws {
        try await ReaderBench.run([.device]) { reader in
            let id = try await reader.enrollByName("right")
            reader.rig.readers[0].command("SET_CANCELLATION_ENABLED 0")
            let (number, call) = try await reader.bench.verify()
            reader.rig.readers[0].command("SLEEP 60000")
            reader.rig.readers[0].command("SCAN right")
            try await reader.sensor.cancel(operation: number)
            let (error, after) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            // After 15 s the sensor would give up waiting for fprintd.
            #expect(after < .seconds(14), "it waited for the reader")
            #expect(reader.kinds(number) == ["ready"])
            #expect(try await reader.templates().map(\.id) == [id])
        }
    }
}

extension ReaderBench {
    /// Cancels a Verify while fprintd matches, and checks that `ask` does not block.
    ///
    /// Stops fprintd during the match, so that the match lasts until the test continues it. On a
    /// busy machine the match can end before the stop: then the method tries again.
    ///
    /// Returns the number of the operation.
    func canceled(
        _ image: Fingerprints.Image,
        _ fprintd: ChildProcess,
        _ ask: @BusActor () async throws -> Bool
    ) async throws -> UInt64 {
        let clock = ContinuousClock()
        for _ in 0..<8 {
            overheard.forget()
            let (number, call) = try await bench.verify()
            try await rig.waitForFingerNeeded()
            let before = try Self.work(of: fprintd)
            rig.readers[0].touch(image)
            // Another thread processes the image first.
            try await eventually("fprintd to match, or to be done") {
                try self.overheard.seen.contains("verify-match")
                    || Self.work(of: fprintd) > before + .milliseconds(100)
            }
            fprintd.signal(SIGSTOP)
            let start = clock.now
            try await sensor.cancel(operation: number)
            let error = try? await failure(of: call).error
            let isWell = try await ask()
            // After 15 s the sensor gives up waiting for fprintd.
            let hasWaited = clock.now - start > .seconds(14)
            // Signals sent by fprintd before the stop arrive before this reply.
            _ = try await rig.client.nameOwner("net.reactivated.Fprint")
            if let error, !hasWaited, !overheard.seen.contains("verify-match") {
                #expect(error.name == .sensorCanceled)
                #expect(isWell)
                return number
            }
            fprintd.signal(SIGCONT)
        }
        throw TestFailure("expected Cancel to come before the match once in eight times")
    }

    /// Returns the CPU time of a process's first thread, which in fprintd answers calls and
    /// matches.
    private static func work(of process: ChildProcess) throws -> Duration {
        let stat = try TemporaryFolder.read("/proc/\(process.pid)/task/\(process.pid)/stat")
        // Skip the name in parentheses, which may contain any character.
        let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        let ticks = fields.map { $0.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +) }
        return .seconds(ticks ?? 0) / sysconf(Int32(_SC_CLK_TCK))
    }

    /// Enrols a finger with the device driver, where names stand for fingers.
    func enrollByName(_ name: String, user: UInt32 = SensorBench.user) async throws -> String {
        try await enroll(user: user) { self.rig.readers[0].command("SCAN \(name)") }
    }
}

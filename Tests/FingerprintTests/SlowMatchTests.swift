import DBus
import FingerprintRig
import Glibc
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
            let (number, call) = try await reader.bench.verify()
            reader.rig.readers[0].command("SLEEP 60000")
            reader.rig.readers[0].command("SCAN right")
            try await reader.sensor.cancel(operation: number)
            let (error, after) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            // After 15 s it waits for no answer of fprintd any more.
            #expect(after < .seconds(14), "it waited for the reader")
            #expect(reader.kinds(number) == ["ready"])
            #expect(try await reader.templates().map(\.id) == [id])
        }
    }
}

extension ReaderBench {
    /// Cancels a Verify while fprintd matches, stops fprintd there, and asks what nobody may have
    /// to wait for; the number of the operation.
    ///
    /// Stopped, it matches for as long as this machine takes for that. On a busy machine the match
    /// can be over before it is stopped: then once more.
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
            // The image is made out on another thread.
            try await eventually("fprintd to match, or to be done") {
                try self.overheard.seen.contains("verify-match")
                    || Self.work(of: fprintd) > before + .milliseconds(100)
            }
            fprintd.signal(SIGSTOP)
            let start = clock.now
            try await sensor.cancel(operation: number)
            let error = try? await failure(of: call).error
            let isWell = try await ask()
            // After 15 s the sensor gives up whatever it waits for of fprintd.
            let hasWaited = clock.now - start > .seconds(14)
            // What fprintd said before it was stopped comes before this answer.
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

    /// How long the thread of a process has worked that it began with: fprintd's answers calls, and
    /// matches.
    private static func work(of process: ChildProcess) throws -> Duration {
        let stat = try TemporaryFolder.read("/proc/\(process.pid)/task/\(process.pid)/stat")
        // Behind the name, which may have anything in it.
        let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        let ticks = fields.map { $0.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +) }
        return .seconds(ticks ?? 0) / sysconf(Int32(_SC_CLK_TCK))
    }

    /// Enrols a finger of the device driver, whose fingers are names.
    func enrollByName(_ name: String, user: UInt32 = SensorBench.user) async throws -> String {
        try await enroll(user: user) { self.rig.readers[0].command("SCAN \(name)") }
    }
}

import BenchSupport
import DBus
import Glibc

// fingerprint-bench --programs FOLDER [--rounds N]: how long after a finger's image is submitted
// Evaluate has answered and fprintd-verify has ended, by turns, on the same fprintd; the reader is
// free for others then.

guard let programs = value("--programs") else {
    Report.say("usage: fingerprint-bench --programs FOLDER [--rounds N]")
    exit(64)
}
let rounds = max(1, value("--rounds").flatMap { Int($0) } ?? 25)

onLoop {
    do {
        let bench = try await FingerprintBench(programs: programs)
        do {
            try await bench.measure(rounds)
        } catch {
            await bench.end()
            throw error
        }
        await bench.end()
        exit(EXIT_SUCCESS)
    } catch {
        Report.complain("fingerprint-bench: \(error)")
        exit(EXIT_FAILURE)
    }
}
EventLoop.shared.run()

import BenchSupport
import DBus
import Glibc

// fingerprint-bench --programs FOLDER [--rounds N]: measures the time from the submission of a
// finger's image to the answer of Evaluate and to the end of fprintd-verify. Both run in turn on
// the same fprintd. After either, the reader is free for others.

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

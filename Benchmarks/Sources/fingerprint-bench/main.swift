import BenchSupport
import DBus
import Glibc

// fingerprint-bench --programs FOLDER --pam-fprintd FILE [--rounds N]: measures the time from the
// submission of a finger's image to the reply of Evaluate, to the end of a PAM client with
// pam_fprintd, and to the end of fprintd-verify. They run in turn on the same fprintd.

guard let programs = value("--programs"), let module = value("--pam-fprintd") else {
    Report.say("usage: fingerprint-bench --programs FOLDER --pam-fprintd FILE [--rounds N]")
    exit(64)
}
let rounds = max(1, value("--rounds").flatMap { Int($0) } ?? 25)

onLoop {
    do {
        let bench = try await FingerprintBench(programs: programs, module: module)
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

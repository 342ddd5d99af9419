import BenchSupport
import DBus
import Foundation
import TestSupport

// keychain-bench --programs FOLDER [--rounds N] [--items N]: measures writing, reading and
// unlocking among N other items. The keychain and gnome-keyring (through libsecret) take turns on
// the same bus and disk.
guard let programs = value("--programs") else {
    Report.say("usage: keychain-bench --programs FOLDER [--rounds N] [--items N]")
    exit(64)
}
let rounds = max(1, value("--rounds").flatMap { Int($0) } ?? 30)
let items = min(4000, max(0, value("--items").flatMap { Int($0) } ?? 100))
guard FileManager.default.isExecutableFile(atPath: KeychainBench.keyring) else {
    Report.complain("keychain-bench: \(KeychainBench.keyring) is missing: run make setup-bench.")
    exit(69)
}

do {
    try await PrivateBus.run(limits: PrivateBus.wideLimits) { bus in
        let desk = try Desk(on: bus, programs: programs)
        desk.agent.will(.type(ScriptedVerifier.passcode))
        try await desk.startEverything()
        let bench = try await KeychainBench(desk: desk, items: items)
        try await bench.measure(rounds)
        await bench.end()
    }
} catch {
    Report.complain("keychain-bench: \(error)")
    exit(EXIT_FAILURE)
}

import BenchSupport
import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import TestSupport

/// The programs, a rig with the real fprintd, and an agent without windows.
@BusActor final class FingerprintBench {
    private let rig: FingerprintRig
    private let bus: PrivateBus
    private let manager: Authentication1Proxy
    private let image: Fingerprints.Image
    private let clock = ContinuousClock()

    init(programs: String) async throws {
        rig = try await FingerprintRig()
        bus = try PrivateBus()
        image = try Fingerprints.image(1, again: true)
        let desk = try Desk(on: bus, programs: programs)
        manager = try await desk.startDaemon().manager
        try bus.start(rig.words(["\(programs)/localauth-sensor-fingerprint"]))
        try await bus.waitForOwner(of: "org.localauth.Sensor1.Fingerprint")
        try await rig.enroll(1, as: "right-index-finger", of: "tester")
    }

    func end() async {
        await bus.end()
        await rig.end()
    }

    func measure(_ rounds: Int) async throws {
        var ours: [Duration] = []
        var theirs: [Duration] = []
        for round in 0...rounds {
            let (one, other) = (try await evaluate(), try await verify())
            // The first round warms all programs up.
            guard round > 0 else { continue }
            ours.append(one)
            theirs.append(other)
        }
        Report.say("\(Report.machine()); \(rounds) rounds by turns on the same fprintd,")
        Report.say("from a finger's image at libfprint's virtual reader until that is free, which")
        Report.say("takes it 100 ms: the answer comes then, and the program ends\n")
        Report.row("", "median", "range", "promise")
        Report.say("|---|---|---|---|")
        for (name, times) in [("Evaluate", ours), ("`fprintd-verify`", theirs)] {
            let sorted = times.sorted()
            let range = "\(Self.text(sorted[0])) to \(Self.text(sorted[sorted.count - 1]))"
            Report.row(name, "\(Self.text(sorted[sorted.count / 2])) ms", "\(range) ms", "")
        }
        let added = ours.sorted()[rounds / 2] - theirs.sorted()[rounds / 2]
        let isKept = added <= .milliseconds(5)
        Report.row(
            "ours adds",
            "\(Self.text(added)) ms",
            "",
            "≤ 5 ms" + (isKept ? "" : " **missed**")
        )
    }

    private static func text(_ time: Duration) -> String {
        let hundredths = Int(time / .microseconds(10))
        let digits = String(abs(hundredths) % 100)
        let sign = hundredths < 0 ? "-" : ""
        return "\(sign)\(abs(hundredths) / 100)." + (digits.count < 2 ? "0" : "") + digits
    }

    private func evaluate() async throws -> Duration {
        try await rig.waitUntilFree()
        let call = try manager.evaluateStream(policy: 1, reason: "be measured", options: [:])
        try await rig.waitForFingerNeeded()
        let start = clock.now
        rig.readers[0].touch(image)
        _ = try await call.reply()
        return clock.now - start
    }

    /// Runs until fprintd-verify has ended, which releases its claim, as the answer of Evaluate
    /// does.
    private func verify() async throws -> Duration {
        try await rig.waitUntilFree()
        let program = try rig.run(
            rig.words(["/usr/bin/fprintd-verify", "-f", "any", "tester"])
        )
        try await rig.waitForFingerNeeded()
        let start = clock.now
        rig.readers[0].touch(image)
        _ = try await program.exitStatus()
        let time = clock.now - start
        guard program.output.contains("verify-match") else {
            throw TestFailure("fprintd-verify: \(program.output)\(program.errors)")
        }
        return time
    }
}

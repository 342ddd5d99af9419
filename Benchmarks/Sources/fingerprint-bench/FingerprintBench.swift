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
    /// The folder of PAM services.
    private let services: String

    /// - Parameters:
    ///   - programs: The folder of the daemon and the sensor.
    ///   - module: The path of `pam_fprintd.so`.
    /// - Throws: Any error of a program's start.
    init(programs: String, module: String) async throws {
        rig = try await FingerprintRig()
        bus = try PrivateBus()
        image = try Fingerprints.image(1, again: true)
        let desk = try Desk(on: bus, programs: programs)
        manager = try await desk.startDaemon().manager
        try bus.start(rig.words(["\(programs)/localauth-sensor-fingerprint"]))
        try await bus.waitForOwner(of: "org.localauth.Sensor1.Fingerprint")
        try await rig.enroll(1, as: "right-index-finger", of: "tester")
        services = bus.folder + "/services"
        mkdir(services, 0o755)
        try TemporaryFolder.write("\(services)/finger", "auth required \(module)\n".utf8)
    }

    func end() async {
        await bus.end()
        await rig.end()
    }

    func measure(_ rounds: Int) async throws {
        var times: [(name: String, all: [Duration])] = [
            ("Evaluate", []), ("`pam_fprintd`", []), ("`fprintd-verify`", []),
        ]
        for round in 0...rounds {
            let next = [try await evaluate(), try await authenticate(), try await verify()]
            // The first round warms all programs up.
            guard round > 0 else { continue }
            for (index, time) in next.enumerated() { times[index].all.append(time) }
        }
        Report.say("\(Report.machine()); \(rounds) rounds by turns on the same fprintd,")
        Report.say("from a finger's image at libfprint's virtual reader to the reply of Evaluate,")
        Report.say("and to the end of a program\n")
        Report.row("", "median", "range", "promise")
        Report.say("|---|---|---|---|")
        for (name, all) in times {
            let sorted = all.sorted()
            let range = "\(Self.text(sorted[0])) to \(Self.text(sorted[sorted.count - 1]))"
            Report.row(name, "\(Self.text(sorted[sorted.count / 2])) ms", "\(range) ms", "")
        }
        let added = times[0].all.sorted()[rounds / 2] - times[1].all.sorted()[rounds / 2]
        let isKept = added <= .milliseconds(5)
        Report.row(
            "Evaluate adds to `pam_fprintd`",
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

    /// Measures until a PAM client with pam_fprintd has ended.
    private func authenticate() async throws -> Duration {
        let variables = [
            "LD_PRELOAD=libnss_wrapper.so:libpam_wrapper.so", "PAM_WRAPPER=1",
            "PAM_WRAPPER_SERVICE_DIR=\(services)",
        ]
        let tester = ["/usr/bin/pamtester", "finger", "tester", "authenticate"]
        return try await run(["/usr/bin/env"] + variables + tester, "successfully authenticated")
    }

    /// Measures until fprintd-verify has ended.
    private func verify() async throws -> Duration {
        try await run(["/usr/bin/fprintd-verify", "-f", "any", "tester"], "verify-match")
    }

    private func run(_ words: [String], _ expected: String) async throws -> Duration {
        try await rig.waitUntilFree()
        let program = try rig.run(rig.words(words))
        try await rig.waitForFingerNeeded()
        let start = clock.now
        rig.readers[0].touch(image)
        _ = try await program.exitStatus()
        let time = clock.now - start
        guard (program.output + program.errors).contains(expected) else {
            throw TestFailure("\(words): \(program.output)\(program.errors)")
        }
        return time
    }
}

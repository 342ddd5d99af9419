import BenchSupport
import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// The keychain and gnome-keyring, each with a client process that takes commands.
///
/// The benchmark blocks the main thread, and the desk runs on the loop's thread.
@MainActor
final class KeychainBench {
    nonisolated static let keyring = "/usr/bin/gnome-keyring-daemon"
    private nonisolated static let sizes = [32, 4096]
    /// Operations of each kind and size in a round.
    private nonisolated static let batch = 10
    /// The first numbers of a round's own items, and of items that biometry releases.
    private nonisolated static let (fresh, released) = (10_000, 20_000)

    /// Items of each size that exist all the time.
    private let kept: Int
    private let desk: Desk
    private let simulated: SimulatedSensor1Proxy
    private let daemon: ChildProcess
    private let theirs: ChildProcess
    private let ours: ChildProcess

    /// Milliseconds of operations of one kind.
    private struct Times {
        var theirs: [Double] = []
        var ours: [Double] = []
    }

    /// Starts the programs.
    ///
    /// - Throws: Any error of a program's start.
    init(desk: Desk, items: Int) async throws {
        self.desk = desk
        kept = items / Self.sizes.count
        simulated = await desk.sensor
        let bus = desk.bus
        daemon = try Self.startKeyring(at: bus.address, in: bus.folder)
        try await bus.waitForOwner(of: "org.freedesktop.secrets")
        let tools = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().path
        theirs = try ChildProcess(
            [tools + "/libsecret-client"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address],
            hasStream: true
        )
        // The client uses the system bus first, which is this bus here.
        ours = try ChildProcess(
            [tools + "/security-client"],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address],
            hasStream: true
        )
        for client in [theirs, ours] { try client.waitUntilReady() }
    }

    /// Starts the keyring without the user's environment and keyrings.
    private static func startKeyring(at address: String, in folder: String) throws -> ChildProcess {
        let home = folder + "/keyring"
        for new in [home, home + "/data", home + "/run"] {
            try FileManager.default.createDirectory(
                atPath: new,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
        return try ChildProcess([
            "/usr/bin/env", "-i", "HOME=\(home)", "XDG_DATA_HOME=\(home)/data",
            "XDG_RUNTIME_DIR=\(home)/run", "DBUS_SESSION_BUS_ADDRESS=\(address)",
            keyring, "--foreground", "--components=secrets",
        ])
    }

    func end() {
        for process in [ours, theirs, daemon] { try? process.terminate() }
    }

    // MARK: Measuring

    func measure(_ rounds: Int) async throws {
        for size in Self.sizes {
            for client in [theirs, ours] {
                _ = try perform("add", size, 0, kept, by: client)
            }
            _ = try perform("add", size, Self.released, 1, by: theirs)
            _ = try perform("guard", size, Self.released, 1, by: ours)
        }
        head(rounds)
        for size in Self.sizes {
            var (writes, reads) = (Times(), Times())
            // The first round warms all programs up.
            for round in 0...rounds {
                try alternate("add", size, round, &writes)
                try alternate("read", size, round, &reads)
                var ignored = Times()
                try alternate("delete", size, round, &ignored)
            }
            rows("write \(size) B", writes)
            rows("find and read \(size) B", reads)
        }
        for size in Self.sizes { try await unlockRows(size, rounds) }
    }

    private func alternate(
        _ verb: String,
        _ size: Int,
        _ round: Int,
        _ times: inout Times
    ) throws {
        for turn in 0..<2 {
            let isOurs = (round + turn).isMultiple(of: 2)
            let client = isOurs ? ours : theirs
            let took = try perform(verb, size, Self.fresh, Self.batch, by: client)
            guard round > 0 else { continue }
            if isOurs { times.ours += took } else { times.theirs += took }
        }
    }

    private func unlockRows(_ size: Int, _ rounds: Int) async throws {
        var cold = Times()
        var warm: [Double] = []
        for round in 0...rounds {
            let password = try perform("unlock", size, Self.released, 1, by: theirs)
            try await simulated.queue(outcomes: ["match"])
            let finger = try perform("unlock", size, Self.released, 1, by: ours)
            try await simulated.queue(outcomes: ["match"])
            let evaluated = try perform("warm", size, Self.released, 1, by: ours)
            guard round > 0 else { continue }
            cold.theirs += password
            cold.ours += finger
            warm += evaluated
        }
        Report.row(
            "unlock and read \(size) B: median / p95",
            Report.pair(cold.theirs, digits: 2),
            Report.pair(cold.ours, digits: 2),
            ratio(of: cold)
        )
        Report.row(
            "read \(size) B on a context that was evaluated: median / p95",
            "",
            Report.pair(warm, digits: 2),
            ""
        )
    }

    // MARK: Clients

    private func perform(
        _ verb: String,
        _ size: Int,
        _ first: Int,
        _ count: Int,
        by client: ChildProcess
    ) throws -> [Double] {
        client.tell("\(verb) \(size) \(first) \(count)")
        let line = try client.line() ?? "nothing more"
        let times = line.split(separator: " ").compactMap { Double($0) }.map { $0 / 1e6 }
        guard times.count == count else {
            throw BenchmarkError("the client said \(line)")
        }
        return times
    }

    // MARK: Printing

    private func head(_ rounds: Int) {
        Report.say("\(Report.machine()); \(rounds) rounds by turns of \(Self.batch) calls,")
        Report.say(
            "\(Self.sizes.count * kept) other items there, one call at a time, state on \(disk)."
        )
        Report.say(Self.conditions + "\n")
        Report.row("", "gnome-keyring, libsecret", "here, SecItem", "ratio")
        Report.say("|---|---|---|---|")
    }

    /// The work that each side's figures include.
    ///
    /// The syncs were observed with strace.
    private nonisolated static let conditions = """
        A write here is one SQLite transaction, synchronous=FULL: one fdatasync of its log before
        the reply. gnome-keyring writes its whole file anew, twice for a new item: an fsync each
        before the file takes the old one's place, none of the folder. Find and read is a search by
        attributes and the secret. Unlocking there is the collection's password, given by the call
        that its login module makes; here a context made for it, a prompt, which an agent in this
        program takes, and a simulated sensor that matches at once. No person is in either time.
        """

    private var disk: String {
        let file = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        let mounts = file.split(separator: "\n").map { $0.split(separator: " ") }
        let over = mounts.filter { mount in
            guard mount.count > 2 else { return false }
            let place = mount[1] == "/" ? "" : mount[1]
            return desk.bus.folder.hasPrefix(place + "/")
        }
        return over.max { $0[1].count < $1[1].count }.map { String($0[2]) } ?? "an unknown disk"
    }

    private func rows(_ what: String, _ times: Times) {
        func rate(_ values: [Double]) -> String {
            String(format: "%.0f", Double(values.count) * 1000 / values.reduce(0, +))
        }
        Report.row(what + ", a second", rate(times.theirs), rate(times.ours), "")
        Report.row(
            what + ": median / p95",
            Report.pair(times.theirs, digits: 2),
            Report.pair(times.ours, digits: 2),
            ratio(of: times)
        )
    }

    private func ratio(of times: Times) -> String {
        let ratio =
            Report.percentile(times.ours, 0.5) / Report.percentile(times.theirs, 0.5)
        return String(format: "%.2fx", ratio)
    }
}

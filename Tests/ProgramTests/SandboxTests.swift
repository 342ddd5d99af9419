import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Callers as an installed service sees them: without privileges, and under another user.
@Suite("Sandboxed callers", .timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
struct SandboxTests {
    private static let object = [TestDaemon.name, TestDaemon.root.rawValue, TestDaemon.name]
    private static let register = object + ["RegisterAgent", "oa{sv}", "/agent", "0"]
    private static let monitor = object + ["Monitor", "a{sv}", "0"]

    /// A user of every Debian.
    private static let person = "games"

    /// Calls as the person, with command prefixes for root and for the person.
    private func call(
        _ words: [String],
        on system: InstalledSystem,
        of root: [String] = [],
        in sandbox: [String] = [],
        program: String = "/usr/bin/busctl"
    ) async throws -> ChildProcess.Ended {
        let busctl = [program, "--address=\(system.address)", "--timeout=20", "call"]
        let all = try root + system.words(as: Self.person, sandbox + busctl + words)
        return try await ChildProcess(all, mergesErrors: true).ended(within: .seconds(60))
    }

    /// Copies busctl under another name, the name that the program reports for itself.
    private func program(_ name: String, on system: InstalledSystem) throws -> String {
        let path = "\(system.site.folder)/\(name)"
        try TemporaryFolder.write(path, try TemporaryFolder.read("/usr/bin/busctl"), mode: 0o755)
        return path
    }

    /// Puts the person at the machine, because otherwise no agent is accepted at all.
    @BusActor private func sit(at system: InstalledSystem) throws -> StandInLogind {
        let logind = StandInLogind(on: try system.connect())
        logind.current = StandInSession("c1", at: logind, uid: try system.uid(Self.person))
        logind.others = logind.current
        try logind.start()
        return logind
    }

    @Test("L23: A program outside a sandbox may be an agent and a monitor, as any user")
    func ordinary() async throws {
        let system = try await InstalledSystem()
        let logind = try await sit(at: system)
        let daemon = try await system.startDaemon()
        for words in [Self.register, Self.monitor] {
            let said = try await call(words, on: system)
            #expect(said.status == 0, "\(said.output)")
        }
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0)
        withExtendedLifetime(logind) {}
    }

    private static let unshare = ["/usr/bin/unshare"]
    private static let user = unshare + ["--user", "--map-current-user"]

    @Test("L23: A program in any kind of sandbox may be neither")
    func sandboxed() async throws {
        let system = try await InstalledSystem()
        let logind = try await sit(at: system)
        let daemon = try await system.startDaemon()
        let proxy = try program("xdg-dbus-proxy", on: system)
        for words in [Self.register, Self.monitor] {
            let tries = [
                // All namespaces as with bwrap, and each separately.
                "all": try await call(
                    words,
                    on: system,
                    in: Self.user + ["--mount", "--pid", "--fork", "--ipc", "--uts"]
                ),
                "user": try await call(words, on: system, in: Self.user),
                "mounts": try await call(words, on: system, of: Self.unshare + ["--mount"]),
                "pids": try await call(words, on: system, of: Self.unshare + ["--pid", "--fork"]),
                "proxy": try await call(words, on: system, program: proxy),
            ]
            for (sandbox, said) in tries {
                let isRefused = said.status == 1 && said.output.contains("Access denied")
                #expect(isRefused, "\(sandbox), \(words[3]): \(said.output)")
            }
        }
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0)
        withExtendedLifetime(logind) {}
    }

    // MARK: - Access groups

    private static let keychain = [
        TestDaemon.name, "/org/localauth/Keychain1", "org.localauth.Keychain1",
    ]
    private static let search = keychain + ["Search", "a{sv}a{sv}", "0", "0"]
    private static let reading = keychain + ["ReadMatching", "a{sv}a{sv}", "0", "0"]

    /// The words of a call that adds an item; a group is the caller's wish.
    private static func add(_ account: String, group: String? = nil) -> [String] {
        let attributes = ["class": "genp", "svce": "mail", "acct": account]
            .merging(group.map { ["agrp": $0] } ?? [:]) { $1 }
        return keychain + ["Add", "a{sv}aya{sv}a{sv}", "\(attributes.count)"]
            + attributes.flatMap { [$0, "s", $1] } + ["2", "1", "2", "0", "0"]
    }

    /// Runs a program in a control group, as systemd's scopes do.
    private static func scope(_ name: String) throws -> (folder: String, words: [String]) {
        let unified = "/sys/fs/cgroup/unified"
        let root = access(unified, F_OK) == 0 ? unified : "/sys/fs/cgroup"
        let folder = "\(root)/\(name).scope"
        try #require(mkdir(folder, 0o755) == 0 || errno == EEXIST, "\(folder)")
        return (folder, ["/bin/sh", "-c", "echo $$ > '\(folder)/cgroup.procs'; exec \"$@\"", "sh"])
    }

    /// Bubblewrap as Flatpak runs the bus's proxy, and as it runs the app.
    private static let bwraps = [
        "proxy": ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--die-with-parent", "--"],
        "app": ["/usr/bin/bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--"],
    ]

    @Test(
        "L36: A Flatpak app has a group of its own, and a program in its scope has nothing else",
        .enabled(if: access("/sys/fs/cgroup", W_OK) == 0, "control groups are read-only here")
    )
    func flatpaks() async throws {
        let system = try await InstalledSystem()
        let daemon = try await system.startDaemon(bus: system.address)
        let mine = try Self.scope("app-flatpak-org.example.My\\x2dApp-\(getpid())")
        let other = try Self.scope("flatpak-org.example.Other-\(getpid())")
        defer { for scope in [mine, other] { rmdir(scope.folder) } }
        for (kind, bwrap) in Self.bwraps {
            let added = try await call(Self.add(kind), on: system, of: mine.words, in: bwrap)
            #expect(added.status == 0, "\(kind): \(added.output)")
            let found = try await call(Self.search, on: system, of: mine.words, in: bwrap)
            #expect(found.output.contains("\"sandbox.org.example.My-App\""), "\(found.output)")
            let read = try await call(Self.reading, on: system, of: mine.words, in: bwrap)
            #expect(read.output.contains("\"secret\" ay 2 1 2"), "\(read.output)")
            for search in [Self.search, Self.reading] {
                let foreign = try await call(search, on: system, of: other.words, in: bwrap)
                #expect(foreign.output == "aa{sv} 0\n", "\(kind): \(foreign.output)")
                let unnamed = try await call(search, on: system, in: bwrap)
                #expect(unnamed.output.contains("Access denied"), "\(kind): \(unnamed.output)")
            }
            let wish = Self.add("x", group: "sandbox.org.example.Other")
            let moved = try await call(wish, on: system, of: mine.words, in: bwrap)
            #expect(moved.output.contains("Access denied"), "\(kind): \(moved.output)")
        }
        let own = try await call(Self.add("own"), on: system)
        #expect(own.status == 0, "\(own.output)")
        // Any program of the user can have a scope of any name, and gives up its other items.
        let imitated = try await call(Self.search, on: system, of: mine.words)
        #expect(imitated.output.hasPrefix("aa{sv} 2 "), "\(imitated.output)")
        let taken = try await call(Self.register, on: system, of: mine.words)
        #expect(taken.output.contains("Access denied"), "\(taken.output)")
        let wish = Self.add("wish", group: "sandbox.org.example.My-App")
        let denied = try await call(wish, on: system)
        #expect(denied.output.contains("Access denied"), "\(denied.output)")
        let outside = try await call(Self.search, on: system)
        #expect(outside.output.hasPrefix("aa{sv} 3 "), "\(outside.output)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0)
    }

    @Test("L33: The records of an evaluation contain no name that a program gave itself")
    @BusActor func names() async throws {
        let system = try await InstalledSystem()
        let daemon = try await system.startDaemon()
        let client = try system.connect()
        let manager = Authentication1Proxy(
            client,
            destination: try #require(try await client.nameOwner(TestDaemon.name)),
            path: TestDaemon.root
        )
        let records = EventRecorder<[String: Variant]>()
        let watch = manager.onEvaluated { records.record($0) }
        defer { watch.cancel() }
        try await manager.monitor(options: [:])
        let evaluate = Self.object + ["Evaluate", "usa{sv}", "1", "pay", "0"]
        _ = try await call(evaluate, on: system, program: try program("Bank", on: system))
        let record = try await records.first("an evaluation") { _ in true }
        #expect(record["app-name"] == .string("") && record["process"] == .string(""))
        client.close()
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0)
    }
}

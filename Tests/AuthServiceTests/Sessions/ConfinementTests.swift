import Glibc
import Linux
import TestSupport
import Testing

@testable import AuthService
@testable import DBus

/// Checks each sign of a sandbox separately.
struct ConfinementTests {
    init() { EventLoop.shared.startThread() }

    private static let own = Confinement(pid: getpid())

    private func isFree(_ change: (inout Confinement) -> Void = { _ in }) throws -> Bool {
        let own = try #require(Self.own)
        var process = own
        // The test's own unit and labels must not decide.
        process.groups = ["0::/user.slice/user-1000.slice/session-2.scope"]
        process.labels = []
        change(&process)
        return process.isFree(beside: own, roots: [own.roots])
    }

    @Test("L23: a program in the service's own namespaces is in no sandbox")
    func free() throws {
        #expect(try isFree())
        let own = try #require(Self.own)
        #expect(!own.roots.isEmpty)
    }

    @Test("L23: a process that has ended or never existed counts as sandboxed")
    @BusActor
    func gone() throws {
        #expect(Confinement(pid: Int32.max) == nil)
        #expect(Confinement(pid: -1) == nil)
        let bus = try PrivateBus()
        let connection = try bus.connect()
        let ended = try ChildProcess(["/bin/true"])
        try ended.wait()
        func mayBeSandboxed(_ uid: UInt32, _ pid: Int32) throws -> Bool {
            Confinement.mayHold(
                try #require(Peer(name: ":1.1", uid: uid, pid: pid, on: connection))
            )
        }
        #expect(try mayBeSandboxed(getuid(), ended.pid))
        #expect(try mayBeSandboxed(getuid() + 1, getpid()), "it is another user's by now")
    }

    /// Each turn doubles the number of mounts below the folder.
    private static let manyMounts = """
        set -e
        folder=$0/$(printf '%0240d' 0)
        mkdir "$folder"
        mount -t tmpfs none "$folder"
        for turn in 0 1 2 3 4 5 6 7 8 9 10 11; do
            mkdir "$folder/$turn"
            mount --rbind "$folder" "$folder/$turn"
        done
        echo ready
        read line
        """

    @Test(
        "L21, L23: any number of mounts by others does not hide that a process is free",
        .enabled(if: geteuid() == 0, "only root can mount")
    )
    func mounts() throws {
        let folder = try TemporaryFolder()
        let process = try ChildProcess(
            ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", Self.manyMounts, folder.path],
            hasStream: true
        )
        #expect(try process.line() == "ready")
        let mounts = SmallFile.read("/proc/\(process.pid)/mountinfo", limit: 1 << 21)
        #expect(try #require(mounts).count > 1 << 20)
        var crowded = try #require(Confinement(pid: process.pid))
        #expect(try !isFree { $0.roots = crowded.roots })
        // The process is free relative to its own mounts.
        crowded.groups = []
        crowded.labels = []
        #expect(crowded.isFree(beside: crowded, roots: [crowded.roots]))
    }

    @Test("L23: another root, another user namespace or a second pid is a sandbox")
    func namespaces() throws {
        #expect(try !isFree { $0.roots = ["1"] })
        #expect(try !isFree { $0.roots = [] })
        #expect(try !isFree { $0.roots += ["1"] })
        #expect(try !isFree { $0.userMap = "      1000       1000          1\n" })
        #expect(try !isFree { $0.pidCount = 2 })
        #expect(try !isFree { $0.pidCount = 0 })
        #expect(try !isFree { $0.ownName = "xdg-dbus-proxy" })
    }

    @Test(
        "L23: a system service of root with mounts of its own is in no sandbox",
        arguments: [
            (0, "system.slice/system-polkit.slice/polkit-agent-helper@1.service", true),
            (0, "system.slice/polkit.service/inner", false),
            (0, "system.slice/docker-0123.scope", false),
            (0, "machine.slice/guest.service", false),
            (0, "user.slice/user-1000.slice/user@1000.service/app.slice/a.service", false),
            (1000, "system.slice/polkit.service", false),
        ] as [(UInt32, String, Bool)]
    )
    func services(_ uid: UInt32, _ group: String, _ isFree: Bool) throws {
        func check(_ change: (inout Confinement) -> Void = { _ in }) throws -> Bool {
            try self.isFree {
                ($0.uid, $0.roots, $0.groups) = (uid, ["1"], ["0::/\(group)"])
                change(&$0)
            }
        }
        #expect(try check() == isFree)
        #expect(try !check { $0.pidCount = 2 })
        #expect(try !check { $0.userMap = "0 1000 1\n" })
        #expect(try !check { $0.labels = ["evince (enforce)"] })
    }

    @Test(
        "L23: the control group identifies a sandbox's unit",
        arguments: [
            ("app-flatpak-org.example.App-4711.scope", false),
            ("flatpak-org.example.App-4711.scope", false), ("snap.chat.chat-1a2b.scope", false),
            ("docker-0123.scope", false), ("libpod-0123.scope", false),
            ("crio-0123.scope", false), ("machine-qemu.scope", false),
            ("flatpak-session-helper.service", true),
            ("app-gnome-org.example.App-4711.scope", true), ("snapd.service", true),
        ]
    )
    func groups(_ unit: String, _ isFree: Bool) throws {
        let path = "/user.slice/user-1000.slice/user@1000.service/app.slice/\(unit)"
        #expect(try self.isFree { $0.groups = ["0::\(path)"] } == isFree)
        #expect(try self.isFree { $0.groups = ["4:memory:/", "1:name=systemd:\(path)"] } == isFree)
        #expect(try self.isFree { $0.groups = ["0::\(path)/inner"] } == isFree)
    }

    @Test(
        "L23, L36: a sandbox's id comes from its control group and its label",
        arguments: [
            (["app-flatpak-org.mozilla.firefox-4711.scope"], [], "org.mozilla.firefox"),
            (["flatpak-org.example.My\\x2dApp-1.scope"], [], "org.example.My-App"),
            (
                ["snap.firefox_dev.firefox-1a2b.scope"], ["snap.firefox_dev.x (enforce)"],
                "firefox_dev"
            ),
            ([], ["snap.chat.chat (complain)"], "chat"),
            ([], ["snap.chat.hook.configure (enforce)"], "chat"),
            ([], ["snap.chat.chat//null-/usr/bin/x (enforce)"], "chat"),
            ([], ["snap.chat.chat//&lxd-x (enforce)"], "chat"),
            ([], ["lxd-x//&snap.chat.chat (enforce)"], "chat"),
            ([], ["snap.one.x//&snap.two.x (enforce)"], nil), ([], ["snap. (enforce)"], nil),
            ([], [":lxd-x:snap.chat.chat (enforce)"], nil),
            (["app-flatpak-org.a-1.scope", "app-flatpak-org.b-1.scope"], [], nil),
            (["snap.one.x.scope"], ["snap.two.x"], nil), (["flatpak-org.a-x.scope"], [], nil),
            (["app-flatpak-org.a\\x2fb-1.scope"], [], nil), (["app-flatpak--1.scope"], [], nil),
            (["docker-0123.scope"], ["evince (enforce)"], nil),
        ] as [([String], [String], String?)]
    )
    func ids(_ units: [String], _ labels: [String], _ id: String?) {
        let groups = units.map { "0::/user.slice/user@1000.service/app.slice/\($0)/inner" }
        #expect(SandboxID.find(groups: groups, labels: labels) == id)
    }

    @Test(
        "L23: a confining or unknown profile or domain is a sandbox",
        arguments: [
            ("unconfined", true), ("chrome (unconfined)", true), ("evince (complain)", true),
            ("evince (enforce)", false), ("snap.chat.chat (complain)", false),
            ("lxd-x//&snap.chat.chat (complain)", false),
            (":lxd-x:snap.chat.chat (complain)", false),
            ("unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", true),
            ("system_u:system_r:container_t:s0:c1,c2", false),
            ("unconfined_u:unconfined_r:sandbox_web_t:s0", false),
            ("system_u:system_r:svirt_t:s0:c1,c2", false), ("User", false),
        ]
    )
    func labels(_ label: String, _ isFree: Bool) throws {
        #expect(try self.isFree { $0.labels = [label] } == isFree)
        #expect(try self.isFree { $0.labels = ["unconfined", label] } == isFree)
    }
}

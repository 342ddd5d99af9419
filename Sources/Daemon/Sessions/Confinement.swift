import DBus
import Glibc
import Linux

/// What the kernel tells everybody of a process that shows whether it is in a sandbox (L23).
///
/// The service has no privilege: `/proc/PID/root`, `exe` and `ns` of its callers are refused to it.
/// What is read here is readable by everybody, and nothing of it can be changed by a process that
/// isn't free already.
struct Confinement {
    /// The user that it acts as.
    var uid: UInt32
    /// What it calls itself.
    var ownName: String
    /// How many numbers it has: one more in each namespace of processes below ours.
    var pidCount: Int
    /// The map of its user namespace.
    var userMap: String
    /// The numbers of the mounts at its root, which no two namespaces of mounts share.
    var roots: [String]
    /// Its control groups.
    var groups: [String]
    /// What the kernel's security modules call it; empty where there is none.
    var labels: [String]

    /// Looks a process up; nil when anything of it can't be read, or it ends meanwhile.
    init?(pid: Int32) {
        guard let start = ProcessStatus.field(.startTime, of: pid),
            let status = Self.text(pid, "status"),
            let uid = Self.values("Uid", in: status).dropFirst().first.flatMap({ UInt32($0) }),
            let name = Self.values("Name", in: status).first,
            let map = Self.text(pid, "uid_map"),
            let mounts = SmallFile.read("/proc/\(pid)/mountinfo", limit: Self.limit),
            let groups = Self.text(pid, "cgroup"),
            let labels = Self.labels(of: pid),
            // Not another process that was given the number since.
            start == ProcessStatus.field(.startTime, of: pid)
        else { return nil }
        self.uid = uid
        ownName = name
        pidCount = Self.values("NSpid", in: status).count
        userMap = map
        roots = Self.roots(in: mounts)
        self.groups = groups.split(separator: "\n").map(String.init)
        self.labels = labels
    }

    /// Whether the caller's process is in a sandbox, or can't be shown to be in none.
    @BusActor
    static func mayHold(_ peer: Peer) -> Bool {
        guard let process = Confinement(pid: peer.pid), let own = Confinement(pid: getpid()) else {
            return true
        }
        // Under systemd the service has a namespace of mounts for itself; the first process of the
        // system has not.
        let roots = [own.roots] + [Confinement(pid: 1)].compactMap { $0?.roots }
        return !(process.uid == peer.uid && process.isFree(beside: own, roots: roots))
    }

    /// Whether it is in the namespaces of `own`, at one of `roots`, and nothing else confines it.
    ///
    /// A system service of root may have its own mounts, as the helper of polkit 127 has: systemd
    /// confines it to protect the system, and its caller did not choose what it sees.
    func isFree(beside own: Confinement, roots known: [[String]]) -> Bool {
        (!roots.isEmpty && known.contains(roots) || isSystemService)
            && pidCount == 1 && userMap == own.userMap
            // It speaks for a sandbox.
            && ownName != "xdg-dbus-proxy"
            && !groups.contains(where: Self.isSandboxGroup)
            && !labels.contains(where: Self.isConfining)
    }

    /// Whether it is in the control group of a system service, as root.
    private var isSystemService: Bool {
        uid == 0
            && groups.contains { $0.hasPrefix("0::/system.slice/") && $0.hasSuffix(".service") }
    }

    // MARK: - What is in the files

    /// Only so much is read, as users can lengthen some of these files.
    private static let limit = 1 << 16

    private static func text(_ pid: Int32, _ file: String) -> String? {
        guard let bytes = SmallFile.read("/proc/\(pid)/\(file)", limit: limit),
            bytes.count < limit
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func values(_ key: String, in status: String) -> [String] {
        let line = status.split(separator: "\n").first { $0.hasPrefix(key + ":\t") }
        return line?.split(separator: "\t").dropFirst().map(String.init) ?? []
    }

    /// Of so many mounts: users may add some behind them, and no other namespace has one of these.
    private static func roots(in mounts: [UInt8]) -> [String] {
        mounts.split(separator: UInt8(ascii: "\n"))
            .compactMap { line in
                let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
                return fields.count > 5 && fields[4].elementsEqual("/".utf8)
                    ? String(decoding: fields[0], as: UTF8.self) : nil
            }
    }

    /// The labels that the security modules give it; nil when they can't be told.
    private static func labels(of pid: Int32) -> [String]? {
        var labels: [String] = []
        for module in ["apparmor/current", "current"] {
            do throws(SmallFile.Refusal) {
                let bytes = try SmallFile.contents(of: "/proc/\(pid)/attr/\(module)", limit: 4096)
                let label = bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }
                if !label.isEmpty { labels.append(String(decoding: label, as: UTF8.self)) }
            } catch {
                // No such module, or none that labels processes.
                guard [ENOENT, EINVAL, EOPNOTSUPP].contains(error.reason) else { return nil }
            }
        }
        return labels
    }

    /// Whether a line of `cgroup` names a unit that Flatpak, Snap or a container engine makes.
    private static func isSandboxGroup(_ line: String) -> Bool {
        line.split(separator: "/").dropFirst()
            .contains { unit in
                let isFlatpak =
                    unit.hasPrefix("app-flatpak-")
                    || unit.hasPrefix("flatpak-") && unit.hasSuffix(".scope")
                let others = ["snap.", "docker-", "libpod-", "crio-", "machine-"]
                return isFlatpak || others.contains { unit.hasPrefix($0) }
            }
    }

    /// Whether a label is that of a profile or a domain that confines; one of an unknown form does.
    private static func isConfining(_ label: String) -> Bool {
        if label.hasPrefix("snap.") { return true }
        // AppArmor: the profile with its mode.
        if label == "unconfined" { return false }
        if label.hasSuffix(")") {
            return !["(unconfined)", "(complain)"].contains { label.hasSuffix($0) }
        }
        // SELinux: user, role, domain and level.
        let parts = label.split(separator: ":")
        guard parts.count >= 3 else { return true }
        return ["container", "sandbox", "svirt"].contains { parts[2].contains($0) }
    }
}

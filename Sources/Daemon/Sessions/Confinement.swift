import DBus
import Glibc
import Linux

/// Kernel facts about a process that show whether it is in a sandbox (L23).
///
/// The service is unprivileged and can't read `/proc/PID/root`, `exe` and `ns` of its callers.
/// Every process can read the facts used here, and a sandboxed process can't change them.
struct Confinement {
    var uid: UInt32
    /// The name that the process gives itself.
    var ownName: String
    /// The number of its pids: an additional pid for each pid namespace below the service's
    /// namespace.
    var pidCount: Int
    var userMap: String
    /// The ids of the mounts at its root, which two mount namespaces never share.
    var roots: [String]
    var groups: [String]
    /// Its labels from the kernel's security modules; empty without modules.
    var labels: [String]

    /// Looks up a process; nil if a fact can't be read, or the process ends meanwhile.
    init?(pid: Int32) {
        guard let start = ProcessStatus.field(.startTime, of: pid),
            let status = Self.text(pid, "status"),
            let uid = Self.values("Uid", in: status).dropFirst().first.flatMap({ UInt32($0) }),
            let name = Self.values("Name", in: status).first,
            let map = Self.text(pid, "uid_map"),
            let mounts = SmallFile.read("/proc/\(pid)/mountinfo", limit: Self.limit),
            let groups = Self.text(pid, "cgroup"),
            let labels = Self.labels(of: pid),
            // A reused pid has a different start time.
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

    /// Whether the caller's process is in a sandbox, or can't be proven to be outside.
    @BusActor
    static func mayHold(_ peer: Peer) -> Bool {
        guard let process = Confinement(pid: peer.pid), let own = Confinement(pid: getpid()) else {
            return true
        }
        // Under systemd the service has its own mount namespace, but the system's first process has
        // not.
        let roots = [own.roots] + [Confinement(pid: 1)].compactMap { $0?.roots }
        return !(process.uid == peer.uid && process.isFree(beside: own, roots: roots))
    }

    /// Whether the process shares the namespaces of `own`, has one of the known roots, and is not
    /// confined otherwise.
    ///
    /// A system service of root may have mounts of its own, as the helper of polkit 127 has. The
    /// administrator confines such a service, so no caller chose the files that it sees.
    func isFree(beside own: Confinement, roots known: [[String]]) -> Bool {
        (!roots.isEmpty && known.contains(roots) || isSystemService)
            && pidCount == 1 && userMap == own.userMap
            // The proxy speaks for a sandboxed app.
            && ownName != "xdg-dbus-proxy"
            && !groups.contains(where: Self.isSandboxGroup)
            && !labels.contains(where: Self.isConfining)
    }

    /// Whether the process runs as root in the control group of a system service.
    private var isSystemService: Bool {
        uid == 0
            && groups.contains { $0.hasPrefix("0::/system.slice/") && $0.hasSuffix(".service") }
    }

    // MARK: - Parsing

    /// Bounds the read, because users can lengthen some of these files.
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

    /// Returns the ids of the mounts at the root, within the part that was read, because users can
    /// only append mounts.
    private static func roots(in mounts: [UInt8]) -> [String] {
        mounts.split(separator: UInt8(ascii: "\n"))
            .compactMap { line in
                let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
                return fields.count > 5 && fields[4].elementsEqual("/".utf8)
                    ? String(decoding: fields[0], as: UTF8.self) : nil
            }
    }

    /// Returns the labels of the security modules; nil if they can't be read.
    private static func labels(of pid: Int32) -> [String]? {
        var labels: [String] = []
        for module in ["apparmor/current", "current"] {
            do throws(SmallFile.Refusal) {
                let bytes = try SmallFile.contents(of: "/proc/\(pid)/attr/\(module)", limit: 4096)
                let label = bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }
                if !label.isEmpty { labels.append(String(decoding: label, as: UTF8.self)) }
            } catch {
                // The module is missing, or does not label processes.
                guard [ENOENT, EINVAL, EOPNOTSUPP].contains(error.reason) else { return nil }
            }
        }
        return labels
    }

    /// Whether a line of `cgroup` names a unit of Flatpak, Snap or a container engine.
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

    /// Whether a label belongs to a confining profile or domain, or has an unknown form.
    private static func isConfining(_ label: String) -> Bool {
        // A snap in complain mode counts as well, also in a namespace, as in `:lxd-x:snap.chat.chat`.
        if SandboxID.profiles(in: label)
            .contains(where: { $0.hasPrefix("snap.") || $0.contains(":snap.") })
        {
            return true
        }
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

import DBus
import Linux

/// The sandbox of a caller, from facts of the kernel (L23).
enum Sandbox: Hashable, Sendable {
    /// The caller is proven to be outside any sandbox.
    case none
    /// A sandbox of Flatpak or Snap; the id names the app.
    case app(id: String)
    /// Another sandbox, or an undetermined state.
    case unknown

    @BusActor
    static func of(_ peer: Peer) -> Sandbox {
        guard Confinement.mayHold(peer) else { return .none }
        guard let process = Confinement(pid: peer.pid), process.uid == peer.uid else {
            return .unknown
        }
        return SandboxID.find(groups: process.groups, labels: process.labels).map(Self.app)
            ?? .unknown
    }

    var isSandboxed: Bool { self != .none }

    var id: String? {
        if case .app(let id) = self { id } else { nil }
    }

    /// The access group of the app's items (L36).
    var accessGroup: String? { id.map { Self.groupPrefix + $0 } }

    /// The prefix of access groups that belong to sandboxed apps.
    static let groupPrefix = "sandbox."
}

/// Finds the app ids of Flatpak and Snap in control groups and labels (contract 5).
enum SandboxID {
    /// Returns the id in groups and labels; nil if there is no id, or different ids.
    static func find(groups: [String], labels: [String]) -> String? {
        let units = groups.flatMap { $0.split(separator: "/").dropFirst().map(String.init) }
        let profiles = labels.flatMap(profiles)
        let found = Set(units.compactMap(inUnit) + profiles.compactMap(inLabel))
        return found.count == 1 ? found.first.flatMap(valid) : nil
    }

    /// Returns the profiles of a label; AppArmor joins stacked profiles.
    static func profiles(in label: String) -> [String] {
        label.split(separator: "//&").map(String.init)
    }

    private static func inUnit(_ unit: String) -> String? {
        for prefix in ["app-flatpak-", "flatpak-"]
        where unit.hasPrefix(prefix) && unit.hasSuffix(".scope") {
            // The instance's number comes last.
            let name = unit.dropFirst(prefix.count).dropLast(".scope".count)
            guard let dash = name.lastIndex(of: "-"), !name[dash...].dropFirst().isEmpty,
                name[dash...].dropFirst().allSatisfy(\.isNumber)
            else { return "" }
            return unescaped(name[..<dash])
        }
        guard unit.hasPrefix("snap.") else { return nil }
        return unescaped(unit.dropFirst("snap.".count).prefix { $0 != "." })
    }

    private static func inLabel(_ label: String) -> String? {
        guard label.hasPrefix("snap.") else { return nil }
        return String(label.dropFirst("snap.".count).prefix { $0 != "." })
    }

    /// Undoes systemd's escapes in unit names, for example `\\x2d`.
    private static func unescaped(_ name: Substring) -> String {
        var result: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let code = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), code.count == 3, code.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: code.dropFirst(), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func valid(_ id: String) -> String? {
        let isPlain = id.utf8.allSatisfy { byte in
            let letter = byte | 0x20
            return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "._-".utf8.contains(byte)
        }
        return isPlain && 1...255 ~= id.utf8.count ? id : nil
    }
}

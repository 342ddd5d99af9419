import Glibc
import Linux

/// Where fprintd keeps its prints: `user/driver/device/finger`, looked at and never written.
///
/// A change by fprintd-enroll or fprintd-delete is not announced on the bus, but it changes the
/// print's file.
package struct PrintStore: Hashable, Sendable {
    /// One print's file, by what changes whenever somebody writes it.
    package struct Print: Hashable, Sendable {
        /// The path below the user's folder.
        package let path: String
        package let finger: Finger
        /// The inode, for files that are replaced.
        package let inode: UInt64
        /// The size in bytes.
        package let size: Int64
        /// When the content changed, in nanoseconds since 1970.
        package let modified: Int64
        /// When anything of the file changed, in nanoseconds since 1970.
        package let changed: Int64
    }

    package let folder: String

    /// Where fprintd's unit has it.
    package static let standardFolder = "/var/lib/fprint"
    static let mostEntries = 64
    static let largestPrint = 1 << 20

    init(folder: String) { self.folder = folder }

    /// The store of the fprintd with this pid: its `STATE_DIRECTORY` if that can be read, else the
    /// folder of its unit.
    package init(ofProcess process: Int32?) {
        let path = process.flatMap(Self.stateFolder)
        folder = path ?? Self.standardFolder
    }

    /// The prints of a user, sorted by path; nil when they can't be seen, or a look-up fails.
    package func prints(of user: String) -> [Print]? {
        guard Account.isSafe(user) else { return nil }
        guard access(folder, R_OK | X_OK) == 0 else { return nil }
        let root = "\(folder)/\(user)"
        guard let drivers = Self.entries(root) else { return errno == ENOENT ? [] : nil }
        var prints: [Print] = []
        for driver in drivers {
            guard let devices = Self.entries("\(root)/\(driver)") else { return nil }
            for device in devices {
                for finger in Finger.allCases {
                    let path = "\(driver)/\(device)/\(finger.fileName)"
                    guard let print = Self.print(root, path, finger) else { continue }
                    prints.append(print)
                }
            }
        }
        return prints.sorted { $0.path < $1.path }
    }

    /// The folders in which a change of the user's prints shows.
    package func folders(of user: String) -> [String] {
        guard Account.isSafe(user) else { return [] }
        let root = "\(folder)/\(user)"
        var folders = [folder, root]
        for driver in Self.entries(root) ?? [] {
            folders.append("\(root)/\(driver)")
            folders += (Self.entries("\(root)/\(driver)") ?? []).map { "\(root)/\(driver)/\($0)" }
        }
        return folders
    }

    /// An id that changes whenever the print does: derived from its content and its time.
    ///
    /// With several readers one finger can have several prints; all of them count. The hash only
    /// has to distinguish versions of a file: only root could forge one, and root needs no forgery.
    ///
    /// - Returns: 32 hexadecimal digits; nil when a file can't be read.
    package func identifier(of prints: [Print], user: String) -> String? {
        guard Account.isSafe(user), !prints.isEmpty else { return nil }
        var hash = FNV1a()
        for print in prints {
            guard let content = Self.content("\(folder)/\(user)/\(print.path)", Self.largestPrint)
            else { return nil }
            hash.add(Array(print.path.utf8) + [0])
            hash.add(Array("\(content.count) \(print.modified)".utf8) + [0])
            hash.add(content)
        }
        return hash.text
    }

    private static func print(_ root: String, _ path: String, _ finger: Finger) -> Print? {
        var status = stat()
        guard lstat("\(root)/\(path)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Print(
            path: path,
            finger: finger,
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000
                + Int64(status.st_mtim.tv_nsec),
            changed: Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        )
    }

    /// The names in a folder, sorted; nil when it can't be listed, with the reason in errno.
    private static func entries(_ folder: String) -> [String]? {
        guard let listing = opendir(folder) else { return nil }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < mostEntries, let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names.sorted()
    }

    /// The whole of a file that is no longer than `limit`.
    static func content(_ path: String, _ limit: Int) -> [UInt8]? {
        OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)?.content(limit: limit)
    }

    private static func stateFolder(_ process: Int32) -> String? {
        guard let environment = content("/proc/\(process)/environ", 1 << 20) else { return nil }
        let prefix = Array("STATE_DIRECTORY=".utf8)
        for entry in environment.split(separator: 0) where entry.starts(with: prefix) {
            let first = entry.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: ":") }
            guard first.first == UInt8(ascii: "/") else { return nil }
            return String(decoding: first, as: UTF8.self)
        }
        return nil
    }
}

/// The FNV-1a hash of 128 bits.
struct FNV1a {
    private var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    mutating func add(_ bytes: [UInt8]) {
        var state = state
        for byte in bytes {
            state = (state ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
        self.state = state
    }

    var text: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}

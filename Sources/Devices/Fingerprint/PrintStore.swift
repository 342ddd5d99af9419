import Glibc
import Linux

/// Reads fprintd's print files, `user/driver/device/finger`.
///
/// Never writes them.
///
/// Changes by fprintd-enroll or fprintd-delete are not announced on the bus, but they change these
/// files.
package struct PrintStore: Hashable, Sendable {
    /// The state of a print's file, which changes with every write.
    package struct Print: Hashable, Sendable {
        package let path: String
        package let finger: Finger
        /// The inode, which changes when the file is replaced.
        package let inode: UInt64
        package let size: Int64
        /// The time of the last change of content, in nanoseconds since 1970.
        package let modified: Int64
        /// The time of the last change of content or metadata, in nanoseconds since 1970.
        package let changed: Int64
    }

    package let folder: String

    /// The folder that fprintd's unit sets.
    package static let standardFolder = "/var/lib/fprint"
    static let mostEntries = 64
    static let largestPrint = 1 << 20

    init(folder: String) { self.folder = folder }

    /// Finds the store of an fprintd process.
    ///
    /// Uses the process's `STATE_DIRECTORY` if that is readable, or else ``standardFolder``.
    package init(ofProcess process: Int32?) {
        let path = process.flatMap(Self.stateFolder)
        folder = path ?? Self.standardFolder
    }

    /// Returns a user's prints, sorted by path, or nil if they cannot be read.
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

    /// Returns the folders to watch for changes of the user's prints.
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

    /// Returns an id that changes with the prints: a hash of their contents and times.
    ///
    /// A finger can have prints of several readers, and all of them count. The hash need not resist
    /// forgery: only root could forge a print, and root needs no forgery.
    ///
    /// - Returns: 32 hexadecimal digits, or nil if a file cannot be read.
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

    /// Returns the names in a folder, sorted; nil on error, with the reason in errno.
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

    /// Returns the content of a file of at most `limit` bytes.
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

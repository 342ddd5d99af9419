import CFido2
import Glibc
import Linux

package enum KeySource: Hashable, Sendable {
    case devices
    /// A folder of sockets of simulated keys, for tests.
    case sockets(String)

    private static let most = 16

    /// The folder that changes when a key is plugged in or out.
    package var folder: String {
        switch self {
        case .devices: "/dev"
        case .sockets(let folder): folder
        }
    }

    /// Returns the keys that are plugged in.
    ///
    /// Opens each device briefly, which may block: do not call it on the loop's thread.
    package func places() async -> Set<KeyPlace> {
        let paths =
            switch self {
            case .devices: Self.devices()
            case .sockets(let folder): Self.sockets(in: folder)
            }
        return Set(paths.prefix(Self.most).compactMap { KeyPlace($0) })
    }

    private static func devices() -> [String] {
        var list = fido_dev_info_new(most)
        defer { fido_dev_info_free(&list, most) }
        var count = 0
        guard list != nil, fido_dev_info_manifest(list, most, &count) == FIDO_OK else { return [] }
        return (0..<count)
            .compactMap { index in
                fido_dev_info_ptr(list, index).flatMap { fido_dev_info_path($0) }
                    .map { String(cString: $0) }
            }
            .filter { !isOwn($0) }
    }

    /// Whether the device is the virtual key of this product's passkeys, which would ask the service
    /// in turn.
    private static func isOwn(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        let words = SmallFile.read("/sys/class/hidraw/\(name)/device/uevent", limit: 4096) ?? []
        return words.split(separator: UInt8(ascii: "\n"))
            .contains { $0.starts(with: "HID_PHYS=localauth-passkey/".utf8) }
    }

    private static func sockets(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var paths: [String] = []
        while paths.count < most, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".key") { paths.append("\(folder)/\(name)") }
        }
        return paths.sorted()
    }
}

/// The place of a key.
///
/// A key plugged in later has another place, even with an equal path.
package struct KeyPlace: Hashable, Sendable {
    package let path: String
    /// True for a simulated key.
    let isSocket: Bool
    private let node: UInt64

    /// Returns nil unless the path is a character device or a socket.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFSOCK || kind == S_IFCHR else { return nil }
        self.path = path
        isSocket = kind == S_IFSOCK
        node = UInt64(status.st_ino)
    }
}

import CFido2
import Glibc
import Linux

/// Where security keys are looked for.
package enum KeySource: Hashable, Sendable {
    /// The devices of the kernel.
    case devices
    /// A folder of sockets, each a key that a program plays: for tests.
    case sockets(String)

    /// So many keys are asked at once.
    private static let most = 16

    /// The folder in which something changes when a key comes or goes.
    package var folder: String {
        switch self {
        case .devices: "/dev"
        case .sockets(let folder): folder
        }
    }

    /// The keys that are plugged in now.
    ///
    /// Opens each device of its kind for a moment, which may block: not on the caller's thread.
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

/// Where one key is; another one that is plugged in later is elsewhere, even under the same path.
package struct KeyPlace: Hashable, Sendable {
    package let path: String
    /// Whether a program plays the key.
    let isSocket: Bool
    private let node: UInt64

    /// Nil: there is neither a device nor a socket.
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

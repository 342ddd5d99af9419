import Glibc
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/localauth-face-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit { Self.remove(path) }

    func make(_ folder: String) {
        var path = self.path
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o755)
        }
    }

    func write(_ name: String, _ content: some Sequence<UInt8>, mode: mode_t = 0o644) throws {
        make(name.split(separator: "/").dropLast().joined(separator: "/"))
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, mode)
        let bytes = Array(content)
        try #require(file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }

    func link(_ name: String, to target: String) throws {
        make(name.split(separator: "/").dropLast().joined(separator: "/"))
        try #require(symlink(target, "\(path)/\(name)") == 0)
    }

    func read(_ name: String) throws -> [UInt8] { try Self.read("\(path)/\(name)") }

    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0, "\(path)")
        defer { close(file) }
        var content: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &bytes, bytes.count)
            guard count > 0 else { return content }
            content += bytes.prefix(count)
        }
    }

    func mode(_ name: String) -> mode_t {
        var status = stat()
        return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
    }

    static func names(in path: String) -> [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
}

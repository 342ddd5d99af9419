import CLinux
import Glibc

/// A temporary folder that is removed with the object.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// Creates a folder with mode 0700.
    public init() throws(TestFailure) {
        var template = Array("/tmp/localauth-test-XXXXXX".utf8CString)
        try expect(mkdtemp(&template) != nil, "expected a temporary folder")
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit { remove() }

    /// Removes the folder and its contents.
    public func remove() { Self.remove(path) }

    /// Creates a folder and its parents.
    public func make(_ folder: String) {
        var path = self.path
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o755)
        }
    }

    /// Writes a file and creates its parent folders.
    public func write(
        _ name: String,
        _ content: some Sequence<UInt8>,
        mode: UInt32 = 0o644
    ) throws(TestFailure) {
        make(name.split(separator: "/").dropLast().joined(separator: "/"))
        try Self.write("\(path)/\(name)", content, mode: mode)
    }

    /// Writes a file at any path.
    public static func write(
        _ path: String,
        _ content: some Sequence<UInt8>,
        mode: UInt32 = 0o644
    ) throws(TestFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        defer { close(file) }
        let bytes = Array(content)
        try expect(
            file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count,
            "expected \(path) to be written"
        )
    }

    public func link(_ name: String, to target: String) throws(TestFailure) {
        make(name.split(separator: "/").dropLast().joined(separator: "/"))
        try expect(symlink(target, "\(path)/\(name)") == 0, "expected a link \(name)")
    }

    public func read(_ name: String) throws(TestFailure) -> [UInt8] {
        try Self.read("\(path)/\(name)")
    }

    /// Reads a file at any path.
    public static func read(_ path: String) throws(TestFailure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try expect(file >= 0, "expected \(path) to be there")
        defer { close(file) }
        var content: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &bytes, bytes.count)
            guard count > 0 else { return content }
            content += bytes.prefix(count)
        }
    }

    /// The permissions of a file; 0 without a file.
    public func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// The sorted names of a folder's entries.
    public static func names(in path: String) -> [String] {
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

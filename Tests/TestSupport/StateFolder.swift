public import BusBench
import CLinux
import Glibc

/// A temporary state directory with private files, removed with the value.
public struct StateFolder: Sendable {
    public let path: String
    private let folder: TemporaryFolder
    private let subfolder: String

    /// Creates a directory; file names refer to `subfolder`, which is not created.
    public init(_ subfolder: String = "") throws(TestFailure) {
        folder = try TemporaryFolder()
        path = folder.path
        self.subfolder = subfolder.isEmpty ? "/" : "/\(subfolder)/"
    }

    public func file(_ name: String) -> String { path + subfolder + name }

    public var files: [String] { TemporaryFolder.names(in: file("")) }

    public func read(_ name: String) throws(TestFailure) -> [UInt8] {
        try TemporaryFolder.read(file(name))
    }

    public func write(
        _ bytes: some Sequence<UInt8>,
        to name: String,
        mode: UInt32 = 0o600
    ) throws(TestFailure) {
        try TemporaryFolder.write(file(name), bytes, mode: mode)
        try setMode(mode, of: name)
    }

    /// Changes a file's mode; an empty name stands for the folder.
    public func setMode(_ mode: UInt32, of name: String) throws(TestFailure) {
        try expect(chmod(file(name), mode) == 0, "expected \(name) to be there")
    }

    /// The permissions of a file under its full path; 0 without a file.
    public func mode(of path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    public func remove(_ name: String) throws(TestFailure) {
        try expect(unlink(file(name)) == 0, "expected \(name) to be there")
    }
}

public import BusBench
import CLinux
import Glibc

/// A state directory of a test, whose files only its owner may read; removed with the value.
public struct StateFolder: Sendable {
    /// Where it is.
    public let path: String
    private let folder: TemporaryFolder
    private let subfolder: String

    /// A new one; the names of files are those in a subfolder, which is not made.
    public init(_ subfolder: String = "") throws(TestFailure) {
        folder = try TemporaryFolder()
        path = folder.path
        self.subfolder = subfolder.isEmpty ? "/" : "/\(subfolder)/"
    }

    /// The path of a file.
    public func file(_ name: String) -> String { path + subfolder + name }

    /// The names of the files.
    public var files: [String] { TemporaryFolder.names(in: file("")) }

    /// The content of a file.
    public func read(_ name: String) throws(TestFailure) -> [UInt8] {
        try TemporaryFolder.read(file(name))
    }

    /// Writes a file with mode 0600, or another.
    public func write(
        _ bytes: some Sequence<UInt8>,
        to name: String,
        mode: UInt32 = 0o600
    ) throws(TestFailure) {
        try TemporaryFolder.write(file(name), bytes, mode: mode)
        try setMode(mode, of: name)
    }

    /// Gives a file another mode; an empty name is the folder's.
    public func setMode(_ mode: UInt32, of name: String) throws(TestFailure) {
        try expect(chmod(file(name), mode) == 0, "expected \(name) to be there")
    }

    /// The permissions of a file, by its whole path; 0 when there is none.
    public func mode(of path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// Removes a file.
    public func remove(_ name: String) throws(TestFailure) {
        try expect(unlink(file(name)) == 0, "expected \(name) to be there")
    }
}

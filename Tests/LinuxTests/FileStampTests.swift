import Glibc
import Linux
import TestSupport
import Testing

struct FileStampTests {
    private static func status(of path: String) throws -> stat {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status
    }

    @Test("A written file has another stamp, even with equal size and time")
    func putBack() throws {
        let folder = try TemporaryFolder()
        let (file, other) = (folder.path + "/file", folder.path + "/other")
        try folder.write("file", [1])
        let stamp = try #require(FileStamp(of: file))
        #expect(FileStamp(of: file) == stamp)
        let before = try Self.status(of: file)
        // The clock of files goes in steps.
        repeat {
            try folder.write("other", [1])
        } while try Self.status(of: other).st_ctim.tv_nsec == before.st_ctim.tv_nsec
        try folder.write("file", [2])
        #expect(utimensat(AT_FDCWD, file, [before.st_atim, before.st_mtim], 0) == 0)
        #expect(try Self.status(of: file).st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        #expect(FileStamp(of: file) != stamp)
    }
}

import Foundation
import Glibc
import Linux
import Testing

/// Reports of changes in folders.
final class FolderChangesTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "localauth-linux-\(UUID().uuidString)").path

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test("An opened device is not reported; an added, removed or changed device is")
    func devices() throws {
        let file = folder + "/device"
        try "".write(toFile: file, atomically: false, encoding: .utf8)
        var changes = try #require(FolderChanges())
        changes.add(folder, ofDevices: true)
        func tells() -> Bool {
            var query = pollfd(fd: changes.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            defer { changes.clear() }
            return poll(&query, 1, 0) > 0
        }
        _ = try #require(OwnedDescriptor.open(file, O_RDWR))
        #expect(!tells())
        #expect(chmod(file, 0o600) == 0)
        #expect(tells())
        #expect(unlink(file) == 0)
        #expect(tells())
        _ = try #require(OwnedDescriptor.open(file, O_RDWR | O_CREAT, mode: 0o600))
        #expect(tells())
        #expect(!tells())
        let elsewhere = folder + "/elsewhere"
        #expect(mkdir(elsewhere, 0o700) == 0)
        #expect(tells())
        #expect(rename(file, elsewhere + "/device") == 0)
        #expect(tells())
        #expect(rename(elsewhere + "/device", file) == 0)
        #expect(tells())
        // In other folders, writes are reported too.
        changes.add(folder)
        _ = try #require(OwnedDescriptor.open(file, O_RDWR))
        #expect(tells())
    }
}

import AuthEngine
import AuthStore
import Foundation
import Linux
import SQLite
import TestSupport
import Testing

/// The directory and its files must be private to the service's user.
struct PermissionTests {
    @Test("The machine key is 32 random bytes, created once, and unique to the machine")
    func key() throws {
        let folder = try StateFolder()
        _ = try folder.state()
        let key = try folder.read("machine.key")
        #expect(key.count == 32)
        #expect(Set(key).count > 8)
        _ = try folder.state()
        #expect(try folder.read("machine.key") == key)
        #expect(folder.files == ["lock", "machine.key", "state.sqlite"])
        let other = try StateFolder()
        _ = try other.state()
        #expect(try other.read("machine.key") != key)
    }

    @Test("A machine key of the wrong size is refused", arguments: [0, 16, 31, 33, 4096])
    func keySize(_ size: Int) throws {
        let folder = try StateFolder()
        try folder.write(Array(repeating: 1, count: size), to: "machine.key")
        let error = folder.refusal()
        #expect(error?.code == .damaged)
        #expect(error?.path == folder.file("machine.key"))
        #expect(error?.message.hasPrefix("The machine key must have 32 bytes.") == true)
        #expect(try folder.read("machine.key").count == size)
    }

    @Test("A machine key left incomplete by a killed first start is replaced")
    func halfKey() throws {
        let folder = try StateFolder()
        try folder.write([1, 2, 3], to: "machine.key.new", mode: 0o400)
        _ = try folder.state()
        #expect(try folder.read("machine.key").count == 32)
        #expect(!folder.files.contains("machine.key.new"))
    }

    @Test(
        "A file with access for other users is refused",
        arguments: ["machine.key", "state.sqlite"],
        [0o640, 0o604, 0o660, 0o777] as [mode_t]
    )
    func open(name: String, mode: mode_t) throws {
        let folder = try StateFolder()
        _ = try folder.state()
        try folder.setMode(mode, of: name)
        let error = folder.refusal()
        #expect(error?.code == .permission)
        #expect(error?.path == folder.file(name))
        #expect(error?.message == "The file must be ours alone: give it the mode 0600.")
    }

    @Test(
        "A symlink or directory in place of a file is refused",
        arguments: ["machine.key", "state.sqlite"]
    )
    func link(name: String) throws {
        let folder = try StateFolder()
        _ = try folder.state()
        let moved = folder.file("elsewhere")
        try FileManager.default.moveItem(atPath: folder.file(name), toPath: moved)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(name),
            withDestinationPath: moved
        )
        #expect(folder.refusal()?.message == "This is not a regular file.")
        try FileManager.default.removeItem(atPath: folder.file(name))
        try FileManager.default.createDirectory(
            atPath: folder.file(name),
            withIntermediateDirectories: false
        )
        #expect(folder.refusal()?.message == "This is not a regular file.")
    }

    @Test(
        "A directory writable by other users is refused",
        arguments: [0o770, 0o702, 0o1777] as [mode_t]
    )
    func directory(mode: mode_t) throws {
        let folder = try StateFolder()
        try folder.setMode(mode, of: "")
        #expect(folder.refusal()?.code == .permission)
        #expect(folder.refusal()?.path == folder.path)
    }

    @Test(
        "A directory of another user is refused, whatever its mode",
        .enabled(if: getuid() == 0, "only root gives a directory away")
    )
    func foreignDirectory() throws {
        let folder = try StateFolder()
        try #require(chown(folder.path, 65_534, 65_534) == 0)
        #expect(folder.mode(of: folder.path) == 0o700)
        #expect(folder.refusal()?.code == .permission)
        #expect(folder.refusal()?.path == folder.path)
    }

    @Test("A file in place of the directory or its parent is refused")
    func noDirectory() throws {
        let folder = try StateFolder()
        try folder.write([], to: "file")
        for path in [folder.file("file"), folder.file("file/state")] {
            let error = #expect(throws: SystemError.self) {
                try AuthStore.open(
                    directory: path,
                    now: Instant.now(),
                    bootID: "",
                    settings: Settings()
                )
            }
            #expect(error?.path == path)
        }
    }
}

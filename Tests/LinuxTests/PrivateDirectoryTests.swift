import Foundation
import Linux
import Testing

/// A private directory in a folder that is removed with the suite.
final class PrivateDirectoryTests {
    private let path = FileManager.default.temporaryDirectory
        .appending(path: "localauth-linux-\(UUID().uuidString)/deep/er").path
    private let directory: PrivateDirectory

    init() throws {
        directory = try PrivateDirectory(path)
    }

    deinit {
        try? FileManager.default.removeItem(at: URL(filePath: path + "/../.."))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("A file is private whatever the umask, and replaced as a whole")
    func replace() throws {
        #expect(try mode(path) == 0o700)
        #expect(try directory.content(of: "file", limit: 3) == nil)
        for content in [[1, 2, 3], [4]] as [[UInt8]] {
            try directory.replace("file", with: content)
            #expect(try directory.content(of: "file", limit: 3) == content)
            #expect(try mode(directory.file("file")) == 0o600)
        }
        #expect(try directory.names().filter { !$0.hasPrefix(".") } == ["file"])
    }

    @Test("Leftovers of an interrupted replacement do no harm")
    func interrupted() throws {
        for round in 1...2 as ClosedRange<UInt8> {
            let left = ["file.new", "file.old"].map { directory.file($0) }
            for file in left { try PrivateFile.make(file, [9]) }
            try directory.replace("file", with: [round])
            #expect(try directory.content(of: "file", limit: 1) == [round])
            for file in left { #expect(try !PrivateFile.exists(file), "\(file)") }
        }
    }

    @Test("A file that is too long, open to others or not regular is refused")
    func refused() throws {
        let file = directory.file("file")
        try directory.replace("file", with: [1, 2])
        #expect(throws: SystemError.self) { try directory.content(of: "file", limit: 1) }
        for mode in [0o640, 0o604] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let error = #expect(throws: SystemError.self) {
                try directory.content(of: "file", limit: 2)
            }
            #expect(error?.code == .permission)
            #expect(throws: SystemError.self) { try PrivateFile.exists(file) }
        }
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"),
            withDestinationPath: file
        )
        #expect(throws: SystemError.self) { try directory.content(of: "link", limit: 2) }
        #expect(throws: SystemError.self) { try PrivateFile.exists(directory.file("link")) }
    }

    @Test("A file is removed once")
    func remove() throws {
        try directory.replace("file", with: [])
        // Leftovers of interrupted replacements.
        for left in ["file.old", "file.new"] { try PrivateFile.make(directory.file(left), [9]) }
        #expect(try directory.remove("file"))
        #expect(try directory.names().filter { !$0.hasPrefix(".") }.isEmpty)
        #expect(try !directory.remove("file"))
    }

    @Test("One process at a time may lock a directory")
    func lock() throws {
        do {
            let lock = try directory.lock()
            let error = #expect(throws: SystemError.self) { try directory.lock() }
            #expect(error?.code == .busy)
            withExtendedLifetime(lock) {}
        }
        _ = try directory.lock()
    }
}

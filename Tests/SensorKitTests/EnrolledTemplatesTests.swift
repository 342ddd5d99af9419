import Glibc
import LocalAuthBus
import SensorKit
import TestSupport
import Testing

/// Tests of templates on disk.
struct EnrolledTemplatesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("The next process finds all kept templates in order, and no removed template")
    func kept() throws {
        var shelf = try EnrolledTemplates(folder: folder.path)
        let thumb = try shelf.add(for: 1, label: "thumb\nof the left")
        let removed = try shelf.add(for: 1, label: "index")
        let little = try shelf.add(for: 1, label: "")
        _ = try shelf.add(for: 2, label: "of another")
        try shelf.remove(removed, of: 1)
        try shelf.rename(little, of: 1, to: "小指")
        #expect(try shelf.removeAll(of: 2) == 1)
        let next = try EnrolledTemplates(folder: folder.path)
        #expect(next.users == [1] && next[1] == shelf[1])
        #expect(next[1].map(\.id) == [thumb, little])
        #expect(next[1].map(\.label) == ["thumb\nof the left", "小指"])
    }

    @Test("An unknown template is an error for every user, and without a folder no file is written")
    func unknown() throws {
        var shelf = try EnrolledTemplates(folder: nil)
        let id = try shelf.add(for: 1, label: "one")
        #expect(throws: SensorFault.noTemplates) { try shelf.remove(id, of: 2) }
        #expect(throws: SensorFault.noTemplates) { try shelf.rename("x", of: 1, to: "y") }
        #expect(shelf[1].map(\.label) == ["one"])
    }

    @Test("A failed write is an error and changes no template")
    func full() throws {
        var shelf = try EnrolledTemplates(folder: folder.path)
        let id = try shelf.add(for: 1, label: "one")
        // rename(2) cannot replace a folder that is not empty.
        let file = folder.path + "/templates"
        #expect(unlink(file) == 0 && mkdir(file, 0o700) == 0 && mkdir(file + "/in", 0o700) == 0)
        #expect(throws: SensorFault.self) { try shelf.add(for: 1, label: "two") }
        #expect(throws: SensorFault.self) { try shelf.remove(id, of: 1) }
        #expect(shelf[1].map(\.id) == [id])
    }

    @Test("A damaged file throws an error", arguments: ["1", "1\0id\0one", "x\0id\u{0}1\0l\0"])
    func damaged(_ content: String) throws {
        let file = folder.path + "/templates"
        try TemporaryFolder.write(file, content.utf8, mode: 0o600)
        #expect(throws: SensorFault.self) { try EnrolledTemplates(folder: folder.path) }
    }
}

import Glibc
import Linux
import TestSupport
import Testing

@testable import SecurityKey

struct CredentialStoreTests {
    private func credential(_ number: UInt8, counter: UInt32 = 1) throws -> Credential {
        try #require(
            Credential(
                handle: [number, 2, 3],
                publicKey: [UInt8](repeating: number, count: 64),
                verifiesUser: number > 1,
                counter: counter
            )
        )
    }

    @Test(
        "A credential and the relying party survive a restart, for the credential's user only"
    )
    func kept() async throws {
        let folder = try TemporaryFolder()
        let first = try CredentialStore(folder: folder.path + "/state")
        let made = try credential(2)
        let id = try await first.add(made, label: "blue\nkey", user: 1000)
        let second = try CredentialStore(folder: folder.path + "/state")
        #expect(second.party == first.party)
        #expect(try await second.damaged().isEmpty)
        let entries = try await second.entries(of: 1000)
        #expect(entries.map(\.id) == [id] && entries.map(\.label) == ["blue\nkey"])
        #expect(entries.map(\.credential) == [made])
        #expect(try await second.entries(of: 1001).isEmpty)
        for name in TemporaryFolder.names(in: folder.path + "/state") {
            #expect(try PrivateFile.exists("\(folder.path)/state/\(name)"), "\(name)")
        }
    }

    @Test("A new counter is on disk when it is accepted, and no counter is accepted twice")
    func counters() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        let id = try await store.add(try credential(1, counter: 5), label: "", user: 1)
        for (counter, isNew) in [(5, false), (4, false), (0, false), (9, true), (9, false)] {
            let signed = try credential(1, counter: UInt32(counter))
            #expect(try await store.take(signed, of: id, user: 1) == isNew, "\(counter)")
        }
        let again = try CredentialStore(folder: folder.path)
        #expect(try await again.entries(of: 1).map(\.credential.counter) == [9])
        #expect(try await !again.take(try credential(1, counter: 10), of: id, user: 2))
        #expect(try await !again.take(try credential(3, counter: 10), of: id, user: 1))
    }

    @Test("A key without a counter signs repeatedly, until it starts to count")
    func noCounter() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        let id = try await store.add(try credential(1, counter: 0), label: "", user: 1)
        for (counter, isNew) in [(0, true), (0, true), (1, true), (0, false)] {
            let signed = try credential(1, counter: UInt32(counter))
            #expect(try await store.take(signed, of: id, user: 1) == isNew, "\(counter)")
        }
    }

    @Test("A truncated or changed file is reported, left out, and can be removed")
    func damage() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        let id = try await store.add(try credential(1), label: "one", user: 7)
        let name = "7-\(id).credential"
        let whole = try folder.read(name)
        for length in 0..<whole.count {
            try folder.write(name, Array(whole[..<length]), mode: 0o600)
            #expect(try await store.entries(of: 7).isEmpty, "\(length)")
        }
        try folder.write(name, whole + [0], mode: 0o600)
        #expect(try await store.damaged() == ["\(folder.path)/\(name)"])
        #expect(try await store.removeAll(of: 7) == 1)
        #expect(try await store.damaged().isEmpty)
    }

    @Test("An unreadable credential makes the list fail instead of shrinking")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        let id = try await store.add(try credential(1), label: "one", user: 7)
        let name = "\(folder.path)/7-\(id).credential"
        chmod(name, 0o644)
        await #expect(throws: SystemError.self) { try await store.entries(of: 7) }
        #expect(try await store.damaged() == [name])
        chmod(name, 0o600)
        #expect(try await store.entries(of: 7).map(\.id) == [id])
    }

    @Test("Another program's changes are reported once, the store's own never")
    func changedBehind() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        let id = try await store.add(try credential(1), label: "one", user: 7)
        #expect(try await store.changedUsers().isEmpty)
        let name = "7-\(id).credential"
        let content = try folder.read(name)
        try folder.write("8-\(id).credential", content, mode: 0o600)
        #expect(try await store.changedUsers() == [8])
        #expect(try await store.changedUsers().isEmpty)
        #expect(try await store.remove(id, of: 8))
        #expect(try await !store.remove("../\(id)", of: 8))
        #expect(try await store.changedUsers().isEmpty)
    }

    @Test("Without the relying party's name the store fails instead of losing its credentials")
    func lostName() async throws {
        let folder = try TemporaryFolder()
        let store = try CredentialStore(folder: folder.path)
        _ = try await store.add(try credential(1), label: "one", user: 7)
        #expect(try PrivateDirectory(folder.path).remove("machine"))
        #expect(throws: SystemError.self) { try CredentialStore(folder: folder.path) }
        try folder.write("machine", Array("elsewhere".utf8), mode: 0o600)
        #expect(throws: SystemError.self) { try CredentialStore(folder: folder.path) }
    }
}

import Glibc
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

@Suite("Keychain")
struct KeychainTests {
    @Test("Concurrent callers get their results from the keychain's own thread")
    func concurrent() async throws {
        let folder = try StateFolder("keychain")
        let keychain = try folder.keychain()
        let threads = try await withThrowingTaskGroup(of: UInt.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let id = try await keychain.run { store throws(KeychainError) in
                        try store.add(
                            Attributes(["class": .text("genp"), "svce": .text("\(number)")]),
                            secret: SecretBytes("\(number)"),
                            accessControl: .none,
                            password: nil,
                            caller: .person,
                            date: 0
                        )
                    }
                    let items = try await keychain.run { store throws(KeychainError) in
                        try store.search(Query(["id": .text(id)]), caller: .person)
                    }
                    #expect(items.map(\.id) == [id])
                    return try await keychain.run { _ in UInt(pthread_self()) }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(threads.count == 1 && !threads.contains(UInt(pthread_self())))
        let count = try await keychain.run { store throws(KeychainError) in
            try store.search(Query([:]), caller: .person).count
        }
        #expect(count == 40)
    }

    @Test("A refusal reaches the caller as a `KeychainError`")
    func refusal() async throws {
        let folder = try StateFolder("keychain")
        let keychain = try folder.keychain()
        await #expect(throws: KeychainError.self) {
            try await keychain.run { store throws(KeychainError) in
                try store.item("", caller: .person)
            }
        }
    }

    @Test("A released keychain ends its thread and releases its files")
    func end() async throws {
        let folder = try StateFolder("keychain")
        for _ in 0..<20 {
            let keychain = try folder.keychain()
            #expect(try await keychain.run { $0.setAside } == nil)
        }
    }
}

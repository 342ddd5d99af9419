import Glibc
import Sealing
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// Deleted data is overwritten, so that the file reveals no trace of it.
///
/// Some builds of SQLite, such as Debian's, do so by default; others need the pragma.
@Suite("Deletion")
struct DeletionTests {
    /// A small secret within its row, and a large secret with pages of its own.
    private static let sizes = [20, 60_000]

    private static let nowhere = [
        "attributes": 0, "envelope's beginning": 0, "envelope's end": 0,
    ]

    @Test("R66: Deleting needs no authentication and returns the deleted items")
    func delete() throws {
        let store = try StateFolder("keychain").open()
        let ids = [try store.add("a", flags: .biometryAny), try store.add("b")]
        let foreign = try store.add("a", caller: .other)
        let unknown = String(repeating: "0", count: 32)
        #expect(
            try store.delete(ids + ids + [foreign, unknown, "", "x"], caller: .person).count == 2
        )
        #expect(try store.find().isEmpty)
        #expect(try store.read(foreign, caller: .other) == "secret")
        expectRefusal(.notFound) { _ = try store.read(ids[0]) }
        #expect(try store.delete(ids, caller: .person).count == 0)
    }

    @Test("L21: Thousands of unknown ids are not looked up one by one")
    func unknown() throws {
        let store = try StateFolder("keychain").open()
        let own = try store.add("a", flags: .biometryAny)
        let ids = (0..<20_000).map { "\(10_000_000 + $0)" + String(repeating: "0", count: 24) }
        var found: [AccessControl] = []
        let together = try processorTime {
            found = try store.accessControls(of: ids + [own], caller: .person)
            #expect(try store.delete(ids, caller: .person).isEmpty)
        }
        #expect(found.map(\.flags) == [.biometryAny])
        let each = processorTime {
            for id in ids {
                // A page in memory would make each look-up cheap.
                store.emptyLog()
                _ = try? store.item(id, caller: .person)
            }
        }
        #expect(together * 3 < each, "\(together), \(each)")
        #expect(try store.accessControls(of: [own, ids[0]], caller: .person).count == 1)
    }

    /// Returns the processor time of this thread, independent of system load.
    private func processorTime(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    @Test("L18: No trace of a deleted item stays in the file", arguments: sizes)
    func deleted(size: Int) throws {
        let stored = try Stored(size: size)
        #expect(try stored.counts().values.allSatisfy { $0 > 0 }, "it is where this test looks")
        let store = try stored.folder.open()
        #expect(try store.delete([stored.id], caller: .person).count == 1)
        // The keychain is still open.
        #expect(try stored.counts() == Self.nowhere)
        withExtendedLifetime(store) {}
    }

    @Test(
        "L18: No trace of a replaced secret stays in the file",
        arguments: sizes
    )
    func replaced(size: Int) throws {
        let stored = try Stored(size: size)
        try stored.folder.open()
            .setSecret(
                of: stored.id,
                to: SecretBytes("another"),
                password: nil,
                caller: .person,
                date: 1
            )
        #expect(try stored.counts() == Self.nowhere)
    }

    @Test("L18: No trace of an item that an enrolment change deletes stays in the file")
    func enrolment() throws {
        let stored = try Stored(size: 20, flags: .biometryCurrentSet)
        #expect(try stored.counts().values.allSatisfy { $0 > 0 })
        #expect(try stored.folder.open().find(caller: .person.with(.second)).count == 2)
        #expect(try stored.counts() == Self.nowhere)
    }

    /// An item in a file of its own, with the bytes that identify it.
    private struct Stored {
        let folder: StateFolder
        let id: String
        let traces: [(name: String, bytes: [UInt8])]

        /// Stores the item and closes the keychain.
        init(size: Int, flags: AccessControl.Flags = []) throws {
            folder = try StateFolder("keychain")
            let store = try folder.open()
            // Items before and after it keep its page in use.
            try store.add("before")
            let secret = String(repeating: "s", count: size)
            id = try store.add("marked", secret, flags: flags)
            try store.add("after")
            let itemID = try #require(ItemID(id))
            let row = try #require(
                try KeychainSchema.row(itemID, of: 1000, in: store.database)
            )
            traces = [
                ("attributes", row.record),
                ("envelope's beginning", Array(row.envelope.prefix(64))),
                ("envelope's end", Array(row.envelope.suffix(48))),
            ]
        }

        /// Counts the occurrences of each trace in the files.
        func counts() throws -> [String: Int] {
            let bytes = try folder.files.filter { $0.hasPrefix("items.sqlite") }
                .flatMap { try folder.read($0) }
            return Dictionary(
                uniqueKeysWithValues: traces.map { ($0.name, bytes.ranges(of: $0.bytes).count) }
            )
        }
    }
}

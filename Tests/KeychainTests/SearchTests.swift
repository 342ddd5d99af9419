import Synchronization
import TestSupport
import Testing

@testable import KeychainStore

/// Searches over many items.
@Suite("Long searches")
struct SearchTests {
    /// Stores more secrets than a single search step reads.
    private static func fill(_ store: KeychainStore) throws {
        let secret = String(repeating: "s", count: KeychainStore.secretLimit)
        for number in 0..<48 { try store.add("service \(number)", secret) }
    }

    private static func search() throws -> ItemSearch {
        ItemSearch(try Query([:]), skipsAuthenticated: false, caller: .person)
    }

    @Test("L21: A long search lets other calls run between its steps")
    func between() async throws {
        let folder = try StateFolder("keychain")
        try Self.fill(try folder.open())
        let path = folder.path
        let (seen, holder) = (Sightings(), Holder())
        let keychain = try Keychain { () throws(KeychainError) in
            // The search has begun on the keychain's thread.
            holder.ask(seen)
            return try KeychainStore.open(directory: path, credentials: nil)
        }
        holder.keychain.withLock { $0 = keychain }
        #expect(try await keychain.search(noting: seen) == 48)
        #expect(seen.all == ["another's call", "the end of the search"])
        holder.keychain.withLock { $0 = nil }
    }

    @Test("L21: A search ends once its caller has disconnected")
    func left() async throws {
        let folder = try StateFolder("keychain")
        try Self.fill(try folder.open())
        let path = folder.path
        let keychain = try Keychain { () throws(KeychainError) in
            // The search has begun, but has read no items yet.
            withUnsafeCurrentTask { $0?.cancel() }
            return try KeychainStore.open(directory: path, credentials: nil)
        }
        let search = Task { try await keychain.search(Query([:]), caller: .person) }
        let error = await #expect(throws: KeychainError.self) { try await search.value }
        #expect(error?.code == .notAvailable)
    }

    @Test("L21: A search restarts if items change between its steps")
    func changes() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        try Self.fill(store)
        let ids = try store.search(Query([:]), caller: .person).map(\.id)
        #expect(ids.count == 48)
        var search = try Self.search()
        #expect(try !store.advance(&search))
        let gone = Set([ids[0], ids[20], ids[47]])
        #expect(try store.delete(Array(gone), caller: .person).count == gone.count)
        while try !store.advance(&search) {}
        #expect(search.items.map(\.item.id) == ids.filter { !gone.contains($0) })
    }
}

/// The events on the keychain's thread, in order.
private final class Sightings: Sendable {
    private let seen = Mutex<[String]>([])
    var all: [String] { seen.withLock { $0 } }

    func note(_ what: String) { seen.withLock { $0.append(what) } }
}

private final class Holder: Sendable {
    let keychain = Mutex<Keychain?>(nil)

    /// Makes a call that is in progress when this returns.
    func ask(_ seen: Sightings) {
        guard let keychain = keychain.withLock({ $0 }) else { return }
        Task.immediate { try await keychain.run { _ in seen.note("another's call") } }
    }
}

extension Keychain {
    fileprivate func search(noting seen: Sightings) async throws -> Int {
        let found = try await search(Query([:]), caller: .person)
        seen.note("the end of the search")
        return found.count
    }
}

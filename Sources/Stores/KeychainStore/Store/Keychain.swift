import Glibc
import Linux
import Synchronization

/// The keychain on a thread of its own: a slow disk, or deriving a key from a password, delays
/// the one answer that waits for it, never the bus.
package actor Keychain {
    private let thread: SerialThread
    private let open: @Sendable () throws(KeychainError) -> KeychainStore
    private let isThere: @Sendable () -> Bool
    private var store: KeychainStore?
    private var itemLimit: Int?
    private let aside = Mutex<String?>(nil)

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// A keychain that the first call opens; one that can't be opened is tried again by the next.
    ///
    /// `isThere` says whether there is one to open; else opening makes it.
    /// - Throws: `notAvailable` when no thread can be had.
    package init(
        opening open: @escaping @Sendable () throws(KeychainError) -> KeychainStore,
        isThere: @escaping @Sendable () -> Bool = { true }
    ) throws(KeychainError) {
        thread = try translating { () throws(SystemError) in try SerialThread(named: "keychain") }
        self.open = open
        self.isThere = isThere
    }

    deinit {
        // Nobody waits for its end: every call was on the disk before it was answered.
        thread.close()
    }

    /// Makes calls on the keychain, one caller after the other.
    ///
    /// - Throws: what the body throws.
    package func run<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try body(opened())
    }

    /// The items that a query finds; see ``KeychainStore/search(_:skipsAuthenticated:caller:)``.
    ///
    /// What else is called meanwhile comes in between: a user may have more than a gigabyte.
    package func search(
        _ query: Query,
        skipsAuthenticated: Bool = false,
        caller: Caller
    ) async throws(KeychainError) -> [Item] {
        var search = ItemSearch(query, skipsAuthenticated: skipsAuthenticated, caller: caller)
        while try !opened().goOn(with: &search) {
            guard !Task.isCancelled else {
                throw KeychainError(.notAvailable, "The caller has left.")
            }
            await Task.yield()
        }
        return search.items
    }

    /// Where a damaged database was put when this one was opened; nil: there was none.
    package nonisolated var setAside: String? { aside.withLock { $0 } }

    private func opened() throws(KeychainError) -> KeychainStore {
        if let store { return store }
        let opened = try open()
        if let itemLimit { opened.itemLimit = itemLimit }
        aside.withLock { $0 = opened.setAside }
        store = opened
        return opened
    }

    /// Makes calls on the keychain, if there is one: none is made for that.
    ///
    /// - Returns: What the body returns; nil: there is no keychain yet.
    /// - Throws: what the body throws.
    package func runIfThere<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result? {
        store != nil || isThere() ? try run(body) : nil
    }

    /// Sets how many items a user may have from now on; existing items stay.
    package func limitItems(to count: Int) {
        itemLimit = count
        store?.itemLimit = count
    }

    /// Closes the files; the next call opens them again.
    package func close() {
        store = nil
    }
}

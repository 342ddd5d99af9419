import Glibc
import Linux
import Synchronization

/// The keychain on a thread of its own.
///
/// A slow disk, or deriving a key from a password, delays only the caller that waits for it, never
/// the bus.
package actor Keychain {
    private let thread: SerialThread
    private let open: @Sendable () throws(KeychainError) -> KeychainStore
    private let isThere: @Sendable () -> Bool
    private let hasWork: @Sendable () -> Bool
    private var store: KeychainStore?
    /// A failed upgrade, and when a call may try again.
    ///
    /// Each try writes the whole file, so a full disk must not cost every call that time.
    private var failedUpgrade: (error: KeychainError, end: ContinuousClock.Instant)?
    private let pauseAfterUpgrade: Duration
    private var itemLimit: Int?
    private let aside = Mutex<String?>(nil)

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Creates a keychain that the first call opens.
    ///
    /// If opening fails, the next call tries again.
    ///
    /// `isThere` returns whether a keychain exists; otherwise opening creates it. `hasWork` returns
    /// whether a closed keychain has to be opened for work of its own.
    /// - Throws: `notAvailable` if no thread can be created.
    package init(
        opening open: @escaping @Sendable () throws(KeychainError) -> KeychainStore,
        isThere: @escaping @Sendable () -> Bool = { true },
        hasWork: @escaping @Sendable () -> Bool = { false },
        pauseAfterUpgrade: Duration = .seconds(60)
    ) throws(KeychainError) {
        thread = try translating { () throws(SystemError) in try SerialThread(named: "keychain") }
        self.open = open
        self.isThere = isThere
        self.hasWork = hasWork
        self.pauseAfterUpgrade = pauseAfterUpgrade
    }

    deinit {
        // Closing need not wait, because every call reached the disk before its reply.
        thread.close()
    }

    /// Runs calls on the keychain, one caller after another.
    ///
    /// - Throws: The error of the body.
    package func run<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try body(opened())
    }

    /// Returns the items that a query finds; see
    /// ``KeychainStore/search(_:skipsAuthenticated:caller:)``.
    ///
    /// `opening` is the number of items whose secrets are wanted, from the first on.
    ///
    /// Other calls run between the steps of a search, because a user may have more than a gigabyte
    /// of items.
    package func search(
        _ query: Query,
        skipsAuthenticated: Bool = false,
        opening count: Int = 0,
        caller: Caller
    ) async throws(KeychainError) -> [FoundItem] {
        var search = ItemSearch(
            query,
            skipsAuthenticated: skipsAuthenticated,
            keepsEnvelopes: count > 0,
            caller: caller
        )
        while try !opened().advance(&search) {
            guard !Task.isCancelled else {
                throw KeychainError(.notAvailable, "The caller has left.")
            }
            await Task.yield()
        }
        // The rows were read in this turn or an earlier turn with an equal ledger.
        let store = try opened()
        return search.items.enumerated()
            .map { number, found in
                let secret = number < count ? store.freeSecret(of: found.item, found.envelope) : nil
                return FoundItem(item: found.item, secret: secret)
            }
    }

    /// The path of a damaged database that opening set aside; nil if there was none.
    package nonisolated var setAside: String? { aside.withLock { $0 } }

    private func opened() throws(KeychainError) -> KeychainStore {
        if let store { return store }
        if let failedUpgrade, failedUpgrade.end > .now { throw failedUpgrade.error }
        let opened: KeychainStore
        do throws(KeychainError) {
            opened = try open()
        } catch {
            failedUpgrade = error.isOfUpgrade ? (error, .now + pauseAfterUpgrade) : nil
            throw error
        }
        if let itemLimit { opened.itemLimit = itemLimit }
        aside.withLock { $0 = opened.setAside }
        store = opened
        return opened
    }

    /// Runs calls on the keychain if one exists.
    ///
    /// Does not create a keychain.
    ///
    /// - Returns: The result of the body; nil if there is no keychain yet.
    /// - Throws: The error of the body.
    package func runIfThere<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result? {
        store != nil || isThere() ? try run(body) : nil
    }

    /// Limits how many items a user may add.
    ///
    /// Existing items stay.
    package func limitItems(to count: Int) {
        itemLimit = count
        store?.itemLimit = count
    }

    /// Empties the database's log, so that no data that a change replaced stays in it.
    ///
    /// A service calls this while it is idle.
    package func emptyLog() {
        store?.emptyLog()
    }

    /// Empties the log that a killed process left, and upgrades a file of an earlier format.
    ///
    /// - Throws: The error of opening the keychain.
    package func doFormerWork() throws(KeychainError) {
        if store == nil, hasWork() { _ = try opened() }
    }

    /// Empties the log and closes the files.
    ///
    /// The next call opens them again.
    package func close() {
        // A call that still holds the store must not keep the log.
        store?.emptyLog()
        store = nil
    }
}

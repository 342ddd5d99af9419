import SQLite
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

extension ItemTests {
    @Test("R67: An item that a full disk keeps is hidden, and deleted by the next call")
    func keptByFullDisk() throws {
        let store = try StateFolder("keychain").open()
        try store.add("a", flags: .biometryCurrentSet)
        let changed = Caller.person.with(.second)
        // Fail every write, as on a full disk.
        try store.database.run("PRAGMA query_only = ON")
        #expect(try store.find(caller: changed).isEmpty)
        #expect(try store.itemCount(of: 1000) == 1)
        try store.database.run("PRAGMA query_only = OFF")
        #expect(try store.find(caller: changed).isEmpty)
        #expect(try store.itemCount(of: 1000) == 0)
    }
}

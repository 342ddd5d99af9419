import AuthEngine
import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Options of keychain calls that change several parts at once.
@Suite(.timeLimit(.minutes(10)))
struct KeychainChangeTests {
    @Test("A temporary key stays if Update keeps it, and is deleted otherwise")
    func kept() async throws {
        try await ServiceBench.run { bench in
            let other = try bench.bus.connect()
            let keychain = bench.keychain(other)
            let stays = try await KeychainKey(keychain, tag: 1, isTemporary: true)
            let goes = try await KeychainKey(keychain, tag: 2, isTemporary: true)
            await expectName(.invalidArgs) {
                let wrong = ["keep": Variant.string("yes")]
                try await keychain.proxy.update(id: stays.id, attributes: [:], options: wrong)
            }
            await expectName(.keychainDuplicate) {
                try await keychain.proxy.update(
                    id: stays.id,
                    attributes: ["atag": .bytes([2])],
                    options: ["keep": .bool(true)]
                )
            }
            let watching = bench.keychain()
            #expect(try await watching.proxy.search(query: [:], options: [:]).isEmpty)
            for (id, isKept) in [(goes.id, false), (stays.id, true)] {
                try await keychain.proxy.update(
                    id: id,
                    attributes: ["labl": .string("mine")],
                    options: ["keep": .bool(isKept)]
                )
            }
            let found = try await watching.proxy.search(query: [:], options: [:])
            #expect(found.compactMap { $0["id"]?.asString } == [stays.id])
            other.close()
            let gone = KeychainKey(goes, of: watching)
            try await eventually("the key to go") {
                await (try? gone.sign([1]).value()) == nil
            }
            _ = try await KeychainKey(stays, of: watching).sign([1]).value()
        }
    }

    @Test("L15: an item replaced in place keeps its id and is audited as a change")
    func inPlace() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("one", "old")
            @BusActor func add(_ options: [String: Variant]) async throws -> String {
                try await keychain.proxy.add(
                    attributes: ["class": .string("genp"), "svce": .string("two")],
                    secret: Array("new".utf8),
                    accessControl: [:],
                    options: options
                )
            }
            await expectName(.keychainParameter) { _ = try await add(["in-place": .bool(true)]) }
            let options: [String: Variant] = ["replaces": .string(id), "in-place": .bool(true)]
            #expect(try await add(options) == id)
            #expect(try await keychain.services() == ["two"])
            #expect(try await keychain.read(id) == "new")
            let said = bench.journal.records.seen
                .filter { $0["LOCALAUTH_ITEM"] == id && $0["LOCALAUTH_OUTCOME"] == "Success" }
                .map { [$0["LOCALAUTH_EVENT"], $0["LOCALAUTH_OPERATION"]] }
            let expected: [[String?]] = [
                ["item-added", "add"], ["item-changed", "replace"], ["item-used", "read"],
            ]
            #expect(said == expected)
            person.connection.close()
        }
    }

    @Test("A secret and its attributes change together or not at all")
    func secretAndAttributes() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let id = try await keychain.add("one")
            _ = try await keychain.add("two")
            @BusActor func set(_ secret: String, _ attributes: Variant) async throws {
                try await keychain.proxy.setSecret(
                    id: id,
                    secret: Array(secret.utf8),
                    options: ["attributes": attributes]
                )
            }
            await expectName(.keychainDuplicate) {
                try await set("new", .dictionary(["svce": .string("two")]))
            }
            await expectName(.keychainParameter) {
                try await set("new", .dictionary(["srvr": .string("two")]))
            }
            await expectName(.invalidArgs) { try await set("new", .string("svce")) }
            await expectName(.limitsExceeded) {
                let large = String(repeating: "x", count: 65_537)
                try await set(large, .dictionary(["svce": .string("three")]))
            }
            #expect(try await keychain.read(id) == "secret")
            #expect(try await keychain.services() == ["one", "two"])
            try await set("new", .dictionary(["svce": .string("three")]))
            #expect(try await keychain.read(id) == "new")
            #expect(try await keychain.services() == ["three", "two"])
        }
    }
}

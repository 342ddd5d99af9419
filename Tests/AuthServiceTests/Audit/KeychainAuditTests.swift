import AuthEngine
import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Keychain items in the journal", .timeLimit(.minutes(10)))
struct KeychainAuditTests {
    private static let label = "the-very-private-label"
    private static let secret = "the-very-secret-secret"

    /// Returns operation, item, outcome and mechanism of all records of a kind.
    @BusActor
    private static func said(_ bench: AuditBench, _ kind: String) -> [[String?]] {
        bench.journal.records.seen.filter { $0["LOCALAUTH_EVENT"] == kind }
            .map { record in
                ["OPERATION", "ITEM", "OUTCOME", "MECHANISM"].map { record["LOCALAUTH_" + $0] }
            }
    }

    @Test("L15: each secret in the reply of a search is a record")
    func matches() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            let first = try await keychain.add("a")
            _ = try await keychain.add("b")
            let guarded = try await keychain.add("guarded", flags: .biometryAny)
            let path = try await bench.manager(person.connection).createContext(properties: [:])
            let context = Context1Proxy(
                person.connection,
                destination: TestDaemon.name,
                path: path
            )
            let one: [String: Variant] = ["secrets": .uint32(1)]
            _ = try await keychain.proxy.readMatching(query: [:], options: one)
            let query: [String: Variant] = ["svce": .string("guarded")]
            let lent = KeychainClient.options(context)
            // Without a proof nothing is decided.
            _ = try await keychain.proxy.readMatching(query: query, options: lent)
            let call = RunningCall { () throws(DBusError) in
                try await context.evaluate(policy: 1, reason: "a", options: [:])
            }
            try await sensor.operation().succeed(template)
            _ = try await call.value()
            _ = try await keychain.proxy.readMatching(query: query, options: lent)
            #expect(
                Self.said(bench, "item-used") == [
                    ["read", first, "Success", nil], ["read", guarded, "Success", "context"],
                ]
            )
        }
    }

    @Test("L15: operations on items and refusals are recorded without the items' content")
    func records() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            let free = try await keychain.add(Self.label, Self.secret)
            let guarded = try await keychain.add("guarded", Self.secret, flags: .biometryAny)
            let key = try await KeychainKey(keychain)
            await expectName(.keychainDuplicate) { _ = try await keychain.add(Self.label) }
            #expect(
                Self.said(bench, "item-added") == [
                    ["add", free, "Success", nil], ["add", guarded, "Success", nil],
                    ["create-key", key.id, "Success", nil], ["add", nil, "Duplicate", nil],
                ]
            )

            _ = try await keychain.read(free)
            let reading = keychain.reading(guarded)
            try await sensor.operation().succeed(template)
            _ = try await reading.value()
            let canceled = keychain.reading(guarded)
            _ = try await sensor.operation(1)
            let prompt = try await person.prompt(1).handle
            try await bench.manager(person.connection).submitCancel(prompt: prompt)
            await expectName(.keychainUserCanceled) { _ = try await canceled.value() }
            await expectName(.keychainNotFound) { _ = try await keychain.read(Self.label) }
            _ = try await key.sign([1]).value()
            _ = try await key.exchange(key.point)
            await expectName(.keychainDecode) { _ = try await key.decrypt(key.point) }
            #expect(
                Self.said(bench, "item-used") == [
                    ["read", free, "Success", nil], ["read", guarded, "Success", "biometry"],
                    ["read", guarded, "UserCanceled", nil], ["read", nil, "NotFound", nil],
                    ["sign", key.id, "Success", nil], ["exchange", key.id, "Success", nil],
                    ["decrypt", key.id, "Decode", nil],
                ]
            )

            let label: [String: Variant] = ["labl": .string(Self.label)]
            try await keychain.proxy.update(id: free, attributes: label, options: [:])
            let secret = Array(Self.secret.utf8)
            try await keychain.proxy.setSecret(id: free, secret: secret, options: [:])
            _ = try await keychain.proxy.delete(ids: [free, key.id, Self.label])
            _ = try await keychain.proxy.delete(ids: [free, Self.label])
            await expectName(.keychainNotFound) {
                try await keychain.proxy.update(id: free, attributes: label, options: [:])
            }
            #expect(
                Self.said(bench, "item-changed") == [
                    ["update", free, "Success", nil], ["set-secret", free, "Success", nil],
                    ["update", free, "NotFound", nil],
                ]
            )
            #expect(
                Self.said(bench, "item-deleted")
                    == [free, key.id].sorted().map { ["delete", $0, "Success", nil] }
            )

            for record in bench.journal.records.seen {
                let said = record.values.joined(separator: " ")
                #expect(!said.contains("the-very") && !said.contains("genp"))
                guard record["LOCALAUTH_OPERATION"] != nil else { continue }
                #expect(record["LOCALAUTH_UID"] == "\(person.peer.uid)")
                #expect(record["LOCALAUTH_CALLER"] == person.connection.uniqueName)
                #expect(record["LOCALAUTH_CALLER_PID"] == "\(person.peer.pid)")
                #expect(record["LOCALAUTH_CALLER_PROGRAM"]?.isEmpty == false)
            }
            person.connection.close()
        }
    }

    @Test("L15: no record contains an app's own password, whether lent, typed or wrong")
    func password() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let context = Context1Proxy(
                person.connection,
                destination: TestDaemon.name,
                path: try await bench.manager(person.connection).createContext(properties: [:])
            )
            #expect(try await context.setPassword(Self.secret))
            let id = try await keychain.add(
                "locked",
                flags: .applicationPassword,
                context: context
            )
            #expect(try await keychain.read(id, context: context) == "secret")
            for (number, word) in [Self.secret, Self.secret + ", or not"].enumerated() {
                let call = keychain.reading(id)
                _ = try await person.prompt(number)
                try await person.type(word)
                if number == 0 {
                    #expect(try await call.value() == "secret")
                } else {
                    await expectName(.keychainAuthFailed) { _ = try await call.value() }
                }
            }
            let outcomes = Self.said(bench, "item-used").map { $0[2] }
            #expect(outcomes == ["Success", "Success", "AuthFailed"])
            for record in bench.journal.records.seen {
                #expect(!record.values.contains { $0.contains(Self.secret) })
            }
            person.connection.close()
        }
    }

    @Test("L15: items that were replaced or lost their password are recorded too")
    func indirectly() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let old = try await keychain.add("old", accessible: "akpu")
            func replace(_ id: String) async throws -> String {
                try await keychain.proxy.add(
                    attributes: ["class": .string("genp"), "svce": .string("new")],
                    secret: Array("new".utf8),
                    accessControl: KeychainClient.control([], "akpu"),
                    options: ["replaces": .string(id)]
                )
            }
            let new = try await replace(old)
            await expectName(.keychainNotFound) { _ = try await replace(old) }
            bench.verifier.isPasscodeSet = false
            #expect(try await keychain.services().isEmpty)
            #expect(
                Self.said(bench, "item-added") == [
                    ["add", old, "Success", nil], ["add", new, "Success", nil],
                    ["add", nil, "NotFound", nil],
                ]
            )
            #expect(
                Self.said(bench, "item-deleted") == [
                    ["replace", old, "Success", nil], ["passcode-removed", new, "Success", nil],
                ]
            )
            person.connection.close()
        }
    }

    @Test("L15: a flood of reads is counted, and hides no read that a person allowed")
    func flood() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let free = try await keychain.add("free")
            let guarded = try await keychain.add("guarded", flags: .devicePasscode)
            let context = Context1Proxy(
                person.connection,
                destination: TestDaemon.name,
                path: try await bench.manager(person.connection).createContext(properties: [:])
            )
            for _ in 0..<30 { _ = try await keychain.read(free) }
            _ = try await keychain.read(guarded, context: context)
            // An earlier proof allows any number of reads.
            for _ in 0..<5 { _ = try await keychain.read(guarded, context: context) }
            await bench.stop()
            let used = Self.said(bench, "item-used")
            #expect(used.count == 11)
            #expect(used.last == ["read", guarded, "Success", "passcode"])
            let summary = try await bench.journal.record("repeated") {
                $0["LOCALAUTH_REPEATED"] == "item-used"
            }
            #expect(summary["LOCALAUTH_COUNT"] == "25")
            #expect(summary["LOCALAUTH_UID"] == "\(person.peer.uid)")
            person.connection.close()
        }
    }
}

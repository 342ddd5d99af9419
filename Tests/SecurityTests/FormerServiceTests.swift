import ClientTestSupport
import DBus
import Foundation
import Security
import TestSupport
import Testing

/// A service that released its name and still answers.
@BusActor
private final class FormerService: ServedInterface {
    nonisolated static let description = InterfaceDescription(
        name: "org.localauth.Keychain1",
        methods: ["Search": .init(name: "Search", input: "a{sv}a{sv}", output: "aa{sv}")],
        properties: [],
        introspection: ""
    )

    let connection: Connection
    /// The number of calls.
    var questions = 0

    init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.export(ObjectPath(trusted: "/org/localauth/Keychain1"), [self])
        try connection.requestName(TestDaemon.name)
    }

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        questions += 1
        let item: [String: Variant] = [
            "class": .string("genp"), "id": .string("0"), "acct": .string("somebody"),
        ]
        call.answer(.now([item]), "aa{sv}") { (items, writer) throws(DBusError) in
            try writer.write(items)
        }
    }

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }

    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }
}

/// Tests which service the client trusts.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct FormerServiceTests {
    @Test("Answers of a service that has lost its name have no effect")
    func former() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let former = try await FormerService(on: desk.bus)
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecSuccess)
            await former.connection.releaseName(TestDaemon.name)
            try await desk.bus.waitForOwner(of: TestDaemon.name, false)
            try await desk.startEverything()
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
            // The client called the former service while it checked the owner of the name.
            #expect(await former.questions == 2)
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
            #expect(await former.questions == 2)
        }
    }
}

import AuthEngine
import DBus
import LocalAuthBus
import Sealing
import TestSupport
import Testing

/// Checks that a bus monitor sees no secrets.
@Suite("Secrets and bus monitors", .timeLimit(.minutes(10)))
struct KeychainMonitorTests {
    private static let sealed: [String: Variant] = ["sealed": .bool(true)]

    @Test("R64, L18, L32: a monitor can't read sealed secrets or typed passwords")
    func monitor() async throws {
        try await ServiceBench.run { bench in
            let monitor = try Self.monitor(bench.bus)
            let (person, sensor, template) = try await bench.enrolled()
            let (keychain, name) = (bench.keychain(person.connection), person.connection.uniqueName)
            let key = try #require(RecipientKey(try await keychain.proxy.sealingKey()))
            @BusActor func seal(_ text: String) throws -> [UInt8] {
                try #require(key.seal(Array(text.utf8), for: .keychain, of: name))
            }
            let context = try await bench.context(on: person.connection)
            _ = try await context.setCredential(
                credentialType: 0,
                secret: seal("a password"),
                options: Self.sealed
            )
            let id = try await keychain.proxy.add(
                attributes: ["class": .string("genp")],
                secret: seal("a secret"),
                accessControl: KeychainClient.control([.biometryAny, .applicationPassword]),
                options: KeychainClient.options(context, Self.sealed)
            )
            let own = SealingKey()
            let call = RunningCall { () throws(DBusError) in
                try await keychain.proxy.read(
                    id: id,
                    reason: "open the vault",
                    options: ["seal-to": .bytes(own.publicKey)]
                )
            }
            try await sensor.operation().succeed(template)
            try await person.askedForPassword()
            try await person.type("a password")
            let reply = try await call.value()
            let secret = try #require(own.open(reply, for: .keychain, of: name))
            #expect(secret.use { String(decoding: $0, as: UTF8.self) } == "a secret")
            let seen = try await Self.all(monitor, bench)
            #expect(seen.contains("open the vault"), "it does see messages")
            for word in ["a secret", "a password"] { #expect(!seen.contains(word)) }
        }
    }

    /// Starts a monitor, which sees every message from here on.
    private static func monitor(_ bus: PrivateBus) throws -> RawClient {
        let monitor = try RawClient(bus.address)
        try monitor.send(
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus.Monitoring",
            member: "BecomeMonitor",
            signature: "asu",
            body: [UInt8](repeating: 0, count: 8)
        )
        _ = try monitor.receive(until: "NameLost")
        return monitor
    }

    /// Returns all messages so far as text.
    @BusActor
    private static func all(_ monitor: RawClient, _ bench: ServiceBench) async throws -> String {
        _ = try? await bench.client.nameOwner("end-of-watch.a")
        var seen = ""
        try await eventually("the end of what was sent") {
            seen += monitor.takeSome()?.map { String(UnicodeScalar($0)) }.joined() ?? ""
            return seen.contains("end-of-watch")
        }
        return seen
    }
}

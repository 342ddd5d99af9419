import ClientTestSupport
import DBus
import Sealing
import Security
import TestSupport
import Testing

/// Tests the sealing of secrets between a client and the daemon.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SealedTransportTests {
    @Test("L32: A secret is sealed to the running daemon, also after a restart")
    func restart() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            for word in ["first", "second", ""] {
                let connection = try await desk.bus.connect()
                let keychain = try await StandInKeychain(on: connection)
                let secret = Array(word.utf8)
                let client = try await RemoteKeychain()
                _ = try await client.add([:], secret: secret, [:], RemoteKeychain.PromptOptions())
                #expect(await keychain.opened == [secret])
                try await connection.giveUpName(TestDaemon.name)
            }
        }
    }

    @Test("L32: A reply opens only if it is sealed to this client and its connection")
    func reply() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let keychain = try await StandInKeychain(on: desk.bus.connect())
            let secret = Array("secret".utf8)
            let client = try await RemoteKeychain()
            await keychain.answer { $0.seal(secret, for: .keychain, of: $1) }
            #expect(try await client.read("item", RemoteKeychain.PromptOptions()) == secret)
            await keychain.answer { _, _ in secret }
            await #expect(throws: KeychainFailure.self) {
                try await client.read("item", RemoteKeychain.PromptOptions())
            }
            await keychain.answer { key, _ in key.seal(secret, for: .keychain, of: ":1.9999") }
            await #expect(throws: KeychainFailure.self) {
                try await client.read("item", RemoteKeychain.PromptOptions())
            }
        }
    }
}

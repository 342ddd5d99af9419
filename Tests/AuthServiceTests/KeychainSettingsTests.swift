import DBus
import LocalAuthBus
import SensorContract
import Testing

/// What an administrator sets and asks about the keychain, on the real daemon.
@Suite("The keychain's settings", .timeLimit(.minutes(2)))
struct KeychainSettingsTests {
    @Test("ItemsPerUser counts from the reload on, and takes nothing away")
    func itemLimit() async throws {
        try await ServiceBench.run(configuration: "[Limits]\nItemsPerUser=2\n") { bench in
            let keychain = bench.keychain()
            // Signals are taken from the first answer on; the keychain isn't open by then.
            _ = try await bench.canEvaluate(2)
            try await bench.reload("[Limits]\nItemsPerUser=3\n")
            let first = try await keychain.add("1")
            for name in ["2", "3"] { _ = try await keychain.add(name) }
            await expectName(.limitsExceeded) { _ = try await keychain.add("4") }
            try await bench.reload("[Limits]\nItemsPerUser=1\n")
            #expect(try await keychain.services() == ["1", "2", "3"])
            #expect(try await keychain.read(first) == "secret")
            try await keychain.proxy.setSecret(id: first, secret: sealed("other"), options: [:])
            #expect(try await keychain.read(first) == "other")
            await expectName(.limitsExceeded) { _ = try await keychain.add("4") }
            try await bench.reload("[Limits]\nItemsPerUser=4\n")
            _ = try await keychain.add("4")
            await expectName(.limitsExceeded) { _ = try await keychain.add("5") }
        }
    }
}

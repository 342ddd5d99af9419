import ClientTestSupport
import DBus
import Foundation
import Security
import TestSupport
import Testing

/// Tests which service the client trusts.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct FormerServiceTests {
    @Test("Answers of a service that has lost its name have no effect")
    func former() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let former = try await StandInKeychain(on: desk.bus.connect())
            await former.find(["class": .string("genp"), "acct": .string("somebody")])
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecSuccess)
            await former.connection.releaseName(TestDaemon.name)
            try await desk.bus.waitForOwner(of: TestDaemon.name, false)
            try await desk.startEverything()
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
            // The client called the former service while it checked the owner of the name.
            #expect(await former.searches == 2)
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
            #expect(await former.searches == 2)
        }
    }
}

import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Bytes that a user makes the daemon hold are bounded (L21).
@Suite("Held bytes", .timeLimit(.minutes(10)))
struct HeldBytesTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    private static let bound = 8 * 1024 * 1024
    private static let text = String(repeating: "r", count: 65_536)

    /// Creates contexts with the longest reason until refused; returns their number.
    @BusActor
    private func fill(_ daemon: TestDaemon, _ connections: inout [Connection]) async throws -> Int {
        var count = 0
        while connections.count < 4 {
            let connection = try Connection(.address(daemon.bus.address))
            connections.append(connection)
            for _ in 0..<256 {
                do {
                    _ = try await daemon.manager(connection)
                        .createContext(properties: ["LocalizedReason": .string(Self.text)])
                    count += 1
                } catch {
                    #expect(error.name == .limitsExceeded)
                    return count
                }
            }
        }
        return count
    }

    @Test("L21: The bytes of a user's contexts share one bound across connections")
    @BusActor
    func contexts() async throws {
        let bus = try PrivateBus()
        let daemon = try await TestDaemon(on: bus)
        let manager = daemon.manager
        let path = try await manager.createContext(properties: [:])
        let context = Context1Proxy(daemon.client, destination: daemon.owner, path: path)
        let before = try daemon.process.memory()
        var connections: [Connection] = []
        #expect(try await fill(daemon, &connections) == Self.bound / Self.text.utf8.count)
        #expect(try daemon.process.memory() - before < 64 * 1024, "KB")

        // Properties, credentials and waiting calls count too.
        try await expectError(.limitsExceeded, of: "a reason") {
            try await context.setLocalizedReason(Self.text)
        }
        #expect(try await context.localizedReason() == "")
        let secret = Array(Self.text.utf8)
        try await expectError(.limitsExceeded, of: "a credential") {
            _ = try await context.setCredential(credentialType: 0, secret: secret, options: [:])
        }
        #expect(try await !context.isCredentialSet(credentialType: 0))
        try await expectError(.limitsExceeded, of: "an item") {
            _ = try await daemon.keychain()
                .add(
                    attributes: ["class": .string("genp")],
                    secret: secret,
                    accessControl: [:],
                    options: [:]
                )
        }

        // Closed connections free their share.
        for connection in connections { connection.close() }
        try await eventually("room for a reason") {
            (try? await context.setLocalizedReason(Self.text)) != nil
        }
        #expect(try await context.setCredential(credentialType: 0, secret: secret, options: [:]))
        try await context.invalidate()
        connections = []
        #expect(try await fill(daemon, &connections) == Self.bound / Self.text.utf8.count)
        for connection in connections { connection.close() }
    }
}

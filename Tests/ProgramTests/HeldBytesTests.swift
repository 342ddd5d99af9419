import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// What one user makes the daemon hold has a bound in bytes (L21).
@Suite("Held bytes", .timeLimit(.minutes(10)))
struct HeldBytesTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// The bound of the service.
    private static let bound = 8 * 1024 * 1024
    private static let text = String(repeating: "r", count: 65_536)

    /// Makes contexts, each with the longest reason, until that is refused; how many there are.
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

    @Test("L21: the texts and credentials of a user's contexts have one bound, over connections")
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

        // Nothing goes around it: neither a property nor a credential nor a call that waits.
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

        // What goes away makes room.
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

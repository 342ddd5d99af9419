package import DBus
package import LocalAuthBus

/// The service as this process reaches it: one connection, opened when it is first needed and again
/// when it was lost.
@BusActor
package final class Service {
    /// The connection and the unique name that owns the service's name now.
    ///
    /// Events are taken from that one only.
    package struct Link: Sendable {
        package let connection: Connection
        package let owner: String

        @BusActor package var manager: Authentication1Proxy {
            Authentication1Proxy(connection, destination: owner, path: Service.path)
        }

        @BusActor package var keychain: Keychain1Proxy {
            Keychain1Proxy(connection, destination: owner, path: Service.keychainPath)
        }
    }

    /// The one that this process uses: on the system bus, or else on the session's.
    package nonisolated static let shared = Service([.system, .session])

    package nonisolated static let name = "org.localauth.Authentication1"
    package nonisolated static let path = ObjectPath(trusted: "/org/localauth/Authentication1")
    package nonisolated static let keychainPath = ObjectPath(trusted: "/org/localauth/Keychain1")

    /// Where to look, in this order.
    private var addresses: [Connection.Address]
    private var connections: [Connection.Address: Connection] = [:]

    package nonisolated init(_ addresses: [Connection.Address]) {
        self.addresses = addresses
        EventLoop.shared.startThread()
    }

    /// Uses another bus from now on, for tests with a private bus.
    package func use(_ address: Connection.Address) {
        for connection in connections.values { connection.close() }
        connections = [:]
        addresses = [address]
    }

    /// The service, started if the bus can start it.
    ///
    /// - Throws: `biometryNotAvailable` when it is on none of the buses.
    package func link() async throws(AuthenticationError) -> Link {
        for address in addresses {
            guard let connection = connection(address) else { continue }
            if let owner = await owner(on: connection) {
                return Link(connection: connection, owner: owner)
            }
        }
        throw .noService
    }

    private func connection(_ address: Connection.Address) -> Connection? {
        if let known = connections[address] { return known }
        guard let new = try? Connection(address) else { return nil }
        connections[address] = new
        new.onDisconnect { [weak self] in self?.connections[address] = nil }
        return new
    }

    /// The owner of the name; the first call starts a service that the bus can start.
    private func owner(on connection: Connection) async -> String? {
        if let owner = try? await connection.nameOwner(Self.name) { return owner }
        do throws(DBusError) {
            _ = try await connection.call(
                to: Self.name,
                path: Self.path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping"
            )
            return try await connection.nameOwner(Self.name)
        } catch {
            return nil
        }
    }
}

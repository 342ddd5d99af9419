package import DBus
internal import LocalAuthBus

/// The connections of this process to the service, one per bus.
///
/// Each connection is opened on first use, and reopened after a loss.
@BusActor
package final class ServiceConnection {
    /// The process-wide instance: the system bus, then the session bus.
    package nonisolated static let shared = ServiceConnection([.system, .session])

    /// The buses to search, in this order.
    private var addresses: [Connection.Address]
    private var connections: [Connection.Address: Connection] = [:]
    private var found: RemoteService?

    package nonisolated init(_ addresses: [Connection.Address]) {
        self.addresses = addresses
        EventLoop.shared.startThread()
    }

    /// Switches to another bus, for tests with a private bus.
    package func use(_ address: Connection.Address) {
        for connection in connections.values { connection.close() }
        connections = [:]
        found = nil
        addresses = [address]
    }

    /// Returns the running service, and starts it if the bus can.
    ///
    /// Security: the session bus is no fallback for an unreachable service on the system bus. Any
    /// program of the user could own the name there.
    ///
    /// - Throws: `biometryNotAvailable` if no bus has the service.
    package func current() async throws(AuthenticationError) -> RemoteService {
        for address in addresses {
            let connection: Connection
            do throws(DBusError) {
                connection = try self.connection(address)
            } catch {
                // A machine may lack one of the buses.
                guard error.name == .noServer else { throw .noService }
                continue
            }
            do throws(DBusError) {
                if let service = try await RemoteService.find(on: connection) {
                    found = service
                    return service
                }
            } catch {
                throw .noService
            }
        }
        throw .noService
    }

    /// Returns the service of the last lookup, and starts to check that it still owns the name.
    ///
    /// The caller must not rely on the service's answers before `isStill` is true. Returns nil
    /// without an earlier lookup, or if the service was found on another bus than the first.
    package func lastServiceUnverified() -> (service: RemoteService, isStill: Outcome<Bool>)? {
        guard let found, let first = addresses.first, connections[first] === found.connection
        else { return nil }
        let isStill = Outcome<Bool>()
        onLoop {
            let owner = try? await found.connection.nameOwner(Authentication1.busName)
            isStill.settle(owner == found.owner)
        }
        return (found, isStill)
    }

    /// Pings the service of the last lookup.
    ///
    /// Returns false only if the ping times out. An absent service counts as answering, because
    /// calls to it fail at once.
    package func isAnswering() async -> Bool {
        guard let found else { return true }
        do throws(DBusError) {
            _ = try await found.connection.call(
                to: found.owner,
                path: Authentication1.path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                timeout: .milliseconds(1400)
            )
            return true
        } catch {
            return error.name != .noReply
        }
    }

    private func connection(_ address: Connection.Address) throws(DBusError) -> Connection {
        if let known = connections[address] { return known }
        let new = try Connection(address)
        connections[address] = new
        new.onDisconnect { [weak self] in self?.connections[address] = nil }
        return new
    }
}

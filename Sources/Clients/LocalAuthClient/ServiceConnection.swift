package import DBus
internal import LocalAuthBus

/// How this process reaches the service: one connection for each bus, opened when it is first
/// needed and again when it was lost.
@BusActor
package final class ServiceConnection {
    /// The one that this process uses: on the system bus, or else on the session's.
    package nonisolated static let shared = ServiceConnection([.system, .session])

    /// Where to look, in this order.
    private var addresses: [Connection.Address]
    private var connections: [Connection.Address: Connection] = [:]
    private var found: RemoteService?

    package nonisolated init(_ addresses: [Connection.Address]) {
        self.addresses = addresses
        EventLoop.shared.startThread()
    }

    /// Uses another bus from now on, for tests with a private bus.
    package func use(_ address: Connection.Address) {
        for connection in connections.values { connection.close() }
        connections = [:]
        found = nil
        addresses = [address]
    }

    /// The service that runs now, started if the bus can start it.
    ///
    /// Where it is installed on the system bus and can't be reached, or that bus refuses, the
    /// session's bus is not looked at: there any program of the user may have its name.
    ///
    /// - Throws: `biometryNotAvailable` when it is on none of the buses.
    package func current() async throws(AuthenticationError) -> RemoteService {
        for address in addresses {
            let connection: Connection
            do throws(DBusError) {
                connection = try self.connection(address)
            } catch {
                // A machine need not have both.
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

    /// The service that was found last, which the bus is asked about now: whether it still is the
    /// one.
    ///
    /// Until that is said, nothing may rest on what it answers. Nil: none was found, or not on the
    /// bus that is looked at first.
    package func presumed() -> (service: RemoteService, isStill: Outcome<Bool>)? {
        guard let found, let first = addresses.first, connections[first] === found.connection
        else { return nil }
        let isStill = Outcome<Bool>()
        onLoop {
            let owner = try? await found.connection.nameOwner(Authentication1.busName)
            isStill.settle(owner == found.owner)
        }
        return (found, isStill)
    }

    /// Whether the service that was found last answers, or isn't there: then calls fail by
    /// themselves.
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

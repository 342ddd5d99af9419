package import BusBench
package import DBus
import Glibc

/// A user at the machine, never root, with an agent that types the login password.
@BusActor
package final class Person: ScriptedAgent {
    package let peer: Peer

    /// Registers the agent; `isForProcess` limits it to this connection's process.
    package init(bus: PrivateBus, isForProcess: Bool = false) async throws {
        let connection = try Self.connect(to: bus)
        peer = try await connection.peer(named: connection.uniqueName)
        super.init(connection)
        passcode = ScriptedVerifier.passcode
        try await register(isForProcess ? ["process": .uint32(UInt32(clamping: peer.pid))] : [:])
    }

    /// The text typed into each prompt that begins with the login password; nil for none.
    package var passcode: String? {
        get { if case .open(let text) = act { text } else { nil } }
        set { act = newValue.map(Act.open) ?? .watch }
    }

    /// Uses the long call timeout of the test bus's own connections.
    private static func connect(to bus: PrivateBus) throws -> Connection {
        let connection = try Connection(.address(address(bus)))
        connection.callTimeout = .seconds(120)
        return connection
    }

    /// The address for an ordinary user: root connects through a bridge with another uid.
    package static func address(_ bus: PrivateBus, uid: UInt32 = 65534) -> String {
        guard getuid() == 0 else { return bus.address }
        let path = bus.folder + "/bus"
        return "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(uid),"
            + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
            + "argv4=--bus-path=unix:path=\(path)"
    }

    /// Opens another connection of the user, on behalf of an app.
    package func app(_ bus: PrivateBus) throws -> Connection { try Self.connect(to: bus) }
}

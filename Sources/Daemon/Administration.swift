import BusGuard
import DBus
import Glibc

/// Asks polkit whether a caller may do to other users what root may.
///
/// Nothing that polkit says is kept. Where there is no polkit, or it answers nothing that is to be
/// understood within the caller's patience, only root may.
@BusActor
final class Administration {
    /// What polkit is asked about; `dbus/polkit/org.localauth.policy` describes each.
    enum Action: String, CaseIterable {
        case enroll = "org.localauth.enroll-others"
        case remove = "org.localauth.remove-others"
        case requirePasscode = "org.localauth.require-passcode-others"
    }

    private static let name = "org.freedesktop.PolicyKit1"
    private static let path = ObjectPath(trusted: "/org/freedesktop/PolicyKit1/Authority")
    private static let interface = "org.freedesktop.PolicyKit1.Authority"

    private let connection: Connection
    private let lanes: CallBudget
    private var lastID: UInt64 = 0

    init(connection: Connection, lanes: CallBudget) {
        self.connection = connection
        self.lanes = lanes
    }

    /// Returns when polkit says that the caller may; it may ask an administrator before.
    ///
    /// - Throws: AccessDenied, whatever went wrong; LimitsExceeded while polkit is still asked
    ///   something for the caller's user.
    func check(
        _ action: Action,
        of peer: Peer,
        within patience: Duration,
        started: @BusActor (_ withdraw: @escaping @BusActor () -> Void) -> Void = { _ in }
    ) async throws(DBusError) {
        // A session's bus has no polkit, and whoever has its name there is the user.
        guard connection.address != .session else {
            throw Self.refusal
        }
        guard lanes.begin(.administration, for: peer.uid) else {
            throw .exceeded("polkit is still asked about another call of this user")
        }
        defer { lanes.end(.administration, for: peer.uid) }
        lastID += 1
        let cancellation = "localauthd-\(lastID)"
        let isAllowed: Bool
        do throws(DBusError) {
            let call = try ask(action, peer, cancellation, patience)
            started { call.cancel() }
            let reply: Message
            do throws(DBusError) {
                reply = try await call.reply()
            } catch {
                // The window that asks the administrator goes.
                withdraw(cancellation)
                throw error
            }
            let isTrusted = try await isTrusted(reply)
            let isYes = try Self.isYes(reply)
            isAllowed = isTrusted && isYes
        } catch {
            throw Self.refusal
        }
        guard isAllowed, !peer.hasLeft else { throw Self.refusal }
    }

    private static let refusal = DBusError.denied(
        "only root, and whom polkit lets, may do this for another user"
    )

    /// The caller is named by its connection: a process's number may be another's by now.
    private func ask(
        _ action: Action,
        _ peer: Peer,
        _ cancellation: String,
        _ patience: Duration
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: Self.name,
            path: Self.path,
            interface: Self.interface,
            member: "CheckAuthorization",
            signature: "(sa{sv})sa{ss}us",
            timeout: patience
        ) { writer throws(DBusError) in
            try writer.structure("sa{sv}") { writer throws(DBusError) in
                try writer.write("system-bus-name")
                try writer.write(["name": Variant.string(peer.name)])
            }
            try writer.write(action.rawValue)
            try writer.write([String: String]())
            // It may ask somebody.
            try writer.write(UInt32(1))
            try writer.write(cancellation)
        }
    }

    private func withdraw(_ cancellation: String) {
        let call = try? connection.startCall(
            to: Self.name,
            path: Self.path,
            interface: Self.interface,
            member: "CancelCheckAuthorization",
            signature: "s",
            timeout: .seconds(1)
        ) { writer throws(DBusError) in try writer.write(cancellation) }
        call?.onEnd { _ in }
    }

    /// On the system bus the bus's policy says who may be polkit, and that is not root on Debian.
    private func isTrusted(_ reply: Message) async throws(DBusError) -> Bool {
        if connection.address == .system { return true }
        guard let sender = reply.sender else { return false }
        return [0, ProcessIdentity.uid].contains(try await connection.peer(named: sender).uid)
    }

    private static func isYes(_ reply: Message) throws(DBusError) -> Bool {
        try reply.read("(bba{ss})") { reader throws(DBusError) in
            try reader.structure("bba{ss}") { reader throws(DBusError) in
                let isAuthorized = try reader.read(Bool.self)
                _ = try reader.read(Bool.self)
                _ = try reader.read([String: String].self)
                return isAuthorized
            }
        }
    }
}

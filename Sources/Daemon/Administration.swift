import BusGuard
import DBus
import Glibc

/// Asks polkit whether a caller may act for other users as root may.
///
/// Polkit's answers are not cached. Without polkit, or without a valid answer within the caller's
/// patience, only root is allowed.
@BusActor
final class Administration {
    /// The polkit actions, described in `dbus/polkit/org.localauth.policy`.
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

    /// Returns if polkit authorizes the caller, possibly after it asked an administrator.
    ///
    /// - Throws: AccessDenied for every failure; LimitsExceeded while an earlier question about the
    ///   caller's user is pending.
    func check(
        _ action: Action,
        of peer: Peer,
        within patience: Duration,
        started: @BusActor (_ withdraw: @escaping @BusActor () -> Void) -> Void = { _ in }
    ) async throws(DBusError) {
        // A session bus has no polkit, and any program of the user could own its name there.
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
                // Close the window that asks the administrator.
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

    /// Names the caller by its connection, because a pid may have been reused by another process.
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
            // Flag 1, AllowUserInteraction: polkit may ask an administrator.
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

    /// On the system bus the bus policy decides who may own polkit's name, and polkit's user may
    /// differ from root.
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

import Glibc
import TestSupport

/// Connections that come, attack once, and leave.
///
/// Each visit returns whether it went as planned.
enum Visitor {
    private static let service = "org.localauth.Authentication1"
    private static let root = "/org/localauth/Authentication1"
    /// The number of connections that come at once.
    private static let crowd = 40

    /// Makes calls, and leaves when the service has begun with them and answered none.
    static func leaveCalls(_ calls: [Call], on address: String) -> Bool {
        guard let visitor = try? RawClient(address) else { return false }
        do throws(TestFailure) {
            // After this answer the service has identified the connection, and large calls have
            // room.
            try ask(visitor)
            for call in calls {
                try visitor.send(
                    to: service,
                    path: call.path,
                    interface: call.interface,
                    member: call.member,
                    signature: call.signature,
                    body: call.body
                )
            }
            // The service handles this call after the others, and answers it at once.
            try ask(visitor)
            return true
        } catch {
            return false
        }
    }

    /// Calls a missing method, and reads until the answer.
    private static func ask(_ visitor: RawClient) throws(TestFailure) {
        try visitor.send(to: service, path: root, interface: service, member: "None")
        _ = try visitor.receive(until: "Error.Unknown")
    }

    /// Connects a crowd that begins with calls of 128 KiB.
    static func sendFirstCalls(_ calls: [Call], on address: String) -> Bool {
        let visitors = (0..<crowd).compactMap { _ in try? RawClient(address, isPatient: false) }
        var large = RawValues()
        large.append(UInt32(1 << 17))
        large.append(raw: [UInt8](repeating: 0, count: 1 << 17))
        for (number, visitor) in visitors.enumerated() {
            let call = calls[number % calls.count]
            _ = visitor.offer(
                to: service,
                path: call.path,
                interface: call.interface,
                member: call.member,
                signature: "ay",
                body: large.bytes
            )
        }
        // A ping is taken once the first call has left the socket.
        var busy = visitors
        while !busy.isEmpty {
            busy.removeAll { visitor in
                visitor.drain()
                let offer = visitor.offer(
                    to: service,
                    path: root,
                    interface: "org.freedesktop.DBus.Peer",
                    member: "Ping"
                )
                return offer != .full
            }
            poll(nil, 0, 5)
        }
        return visitors.count == crowd
    }

    /// Registers as an agent, calls Evaluate, and leaves when the prompt must be shown.
    static func leavePrompt(on address: String) -> Bool {
        guard let visitor = try? RawClient(address),
            let registration = Call("\(root) \(service) RegisterAgent oa{sv}")
        else { return false }
        var arguments = RawValues()
        // A policy for which the password is enough.
        arguments.append(UInt32(2))
        arguments.append("open the vault")
        arguments.append(UInt32(0))
        arguments.pad(8)
        do throws(TestFailure) {
            try visitor.send(
                to: service,
                path: registration.path,
                interface: service,
                member: registration.member,
                signature: registration.signature,
                body: registration.body
            )
            // The reply to RegisterAgent names the session.
            _ = try visitor.receive(until: "uid:")
            try visitor.send(
                to: service,
                path: root,
                interface: service,
                member: "Evaluate",
                signature: "usa{sv}",
                body: arguments.bytes
            )
            _ = try visitor.receive(until: "Begin")
            return true
        } catch {
            return false
        }
    }
}

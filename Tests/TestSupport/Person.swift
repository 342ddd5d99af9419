package import BusBench
import CLinux
package import DBus
import Glibc
package import Linux
import LocalAuthBus

/// A user at the desk, with a prompt agent that types what it is told to.
@BusActor
package final class Person: Agent1Service {
    package struct Prompt: Sendable {
        package let handle: String
        package let details: [String: Variant]
        package let channel: OwnedDescriptor
    }

    /// What Update said.
    package struct Update: Equatable, Sendable {
        package let kind: String
        package let cause: String?
        /// Which sensor it is about, and which program has that.
        package let sensor: String?
        package let by: String?
    }

    package static let path = ObjectPath(trusted: "/test/agent")

    package let connection: Connection
    package let peer: Peer
    /// What is typed as soon as a prompt asks for a passcode; nil: nothing.
    package var passcode: String? = ScriptedVerifier.passcode
    /// Begin is answered when this has run; nil: at once.
    package var beforeAnswer: (@BusActor @Sendable () async -> Void)?
    /// What Begin is answered with; nil: the prompt is shown.
    package var refusal: DBusError?
    package let prompts = Witness<Prompt>()
    /// The handles of what was refused.
    package let refused = Witness<String>()
    package let updates = Witness<Update>()
    package let ends = Witness<String>()
    /// Where a prompt sends the password of an item, by the prompt's handle.
    package private(set) var passwordChannels: [String: OwnedDescriptor] = [:]

    /// `isForProcess`: the prompts are for this connection's process alone.
    package init(bus: PrivateBus, isForProcess: Bool = false) async throws {
        connection = try Self.connect(to: bus)
        peer = try await connection.peer(named: connection.uniqueName)
        connection.export(Self.path, [Agent1Interface(self)])
        let manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        let options: [String: Variant] =
            isForProcess ? ["process": .uint32(UInt32(clamping: peer.pid))] : [:]
        _ = try await manager.registerAgent(agent: Self.path, options: options)
    }

    /// As patient as the bus's own connections are.
    private static func connect(to bus: PrivateBus) throws -> Connection {
        let connection = try Connection(.address(address(bus)))
        connection.callTimeout = .seconds(120)
        return connection
    }

    /// Root is nobody in particular: it comes over a bridge that runs as another user.
    package static func address(_ bus: PrivateBus, uid: UInt32 = 65534) -> String {
        guard getuid() == 0 else { return bus.address }
        let path = bus.folder + "/bus"
        return "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(uid),"
            + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
            + "argv4=--bus-path=unix:path=\(path)"
    }

    package func begin(
        prompt: String,
        details: [String: Variant],
        passcode: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        if let refusal {
            refused.record(prompt)
            throw refusal
        }
        prompts.record(Prompt(handle: prompt, details: details, channel: passcode))
        if details["stage"]?.asString == "passcode", let typed = self.passcode {
            enter(typed, into: passcode)
        }
        guard let beforeAnswer else { return .now(()) }
        return .later { () throws(DBusError) in await beforeAnswer() }
    }

    /// The prompt that was shown as the `number`th, from 0.
    package func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)") { _ in prompts.seen.count > number }
        return prompts.seen[number]
    }

    /// Another connection of the same user, as an app has it.
    package func app(_ bus: PrivateBus) throws -> Connection { try Self.connect(to: bus) }

    package func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        if let channel = detail["channel"]?.asDescriptor {
            passwordChannels[prompt] = channel
        }
        updates.record(
            Update(
                kind: kind,
                cause: detail["cause"]?.asString,
                sensor: detail["sensor"]?.asString,
                by: detail["by"]?.asString
            )
        )
        return .now(())
    }

    package func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        ends.record(outcome)
        return .now(())
    }

    /// One packet, from the process that the bus knows the agent as.
    ///
    /// - Returns: Whether somebody may still read it.
    @discardableResult
    package func enter(_ passcode: String, into channel: OwnedDescriptor) -> Bool {
        var isSent = false
        var bytes = Array(passcode.utf8)
        // cmsghdr, then pid, uid and gid: what CMSG_DATA would point at, without the macros.
        var control = [UInt64](repeating: 0, count: 4)
        let words = [UInt32(bitPattern: peer.pid), peer.uid, peer.uid]
        control[0] = 28
        control[1] = UInt64(UInt32(SOL_SOCKET)) | UInt64(SCM_CREDENTIALS) << 32
        control[2] = UInt64(words[0]) | UInt64(words[1]) << 32
        control[3] = UInt64(words[2])
        bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    isSent = sendmsg(channel.rawValue, &message, Int32(MSG_NOSIGNAL)) >= 0
                }
            }
        }
        return isSent
    }
}

import CLinux
import DBus
import Glibc
import Linux

/// A descriptor of a process that can't come to mean another process.
enum ProcessDescriptor {
    /// - Throws: InvalidArgs when there is no such process.
    static func open(_ pid: Int32) throws(DBusError) -> OwnedDescriptor {
        let descriptor = pidfd_open(pid, 0)
        guard descriptor >= 0 else { throw .invalid("there is no process \(pid)") }
        return OwnedDescriptor(adopting: descriptor)
    }

    /// Whether the process has ended, so that its number may be another's.
    static func hasEnded(_ process: OwnedDescriptor) -> Bool {
        var state = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) != 0
    }
}

/// The daemon's end of the pair on which a prompt sends what was typed.
///
/// The daemon never reads a passcode: it looks at who sent a packet, and hands this end to the
/// verifier. The app's own password of a keychain item is the one packet that it reads itself, from
/// a pair that was made for nothing else (L22).
@BusActor
final class PasscodeChannel {
    /// What the packets are.
    enum Purpose {
        /// The passcode of the login, which the verifier reads.
        case passcode
        /// The app's own password, which the service reads.
        case applicationPassword
    }

    let purpose: Purpose
    let ours: OwnedDescriptor
    private var theirs: OwnedDescriptor?
    private let sender: Peer
    private let offered: @BusActor () -> Void
    private var source: EventSource?

    /// - Throws: LimitsExceeded when there are no descriptors left.
    init(
        for purpose: Purpose,
        sender: Peer,
        offered: @escaping @BusActor () -> Void
    ) throws(DBusError) {
        let pair = try SocketPair.make()
        self.purpose = purpose
        ours = pair.ours
        theirs = pair.theirs
        self.sender = sender
        self.offered = offered
    }

    /// The end for the prompt, to be given away; once.
    func takeTheirs() -> OwnedDescriptor? {
        defer { theirs = nil }
        return theirs
    }

    /// Waits for the next packet.
    func listen() {
        guard source == nil else { return }
        source = EventLoop.shared.watch(descriptor: ours.rawValue) { [weak self] in
            self?.arrived()
        }
    }

    /// Stops waiting.
    func rest() {
        source?.cancel()
        source = nil
    }

    /// Drops the packet that waits.
    func discard() {
        SocketPair.drop(ours)
    }

    private func arrived() {
        switch SocketPair.peek(ours) {
        case .none: break
        case .closed: rest()
        case .from(let pid, let uid) where pid == sender.pid && uid == sender.uid:
            rest()
            offered()
        case .from: discard()
        }
    }
}

import Glibc
import Linux
import TestSupport
import Testing

@testable import AuthService
@testable import DBus

/// Who is believed to have typed.
@Suite("The channel of a prompt", .timeLimit(.minutes(10)))
struct PasscodeChannelTests {
    init() { EventLoop.shared.startThread() }

    /// Whether a packet of this process is offered by a channel whose prompt is shown by `sender`.
    @BusActor
    private static func isOffered(uid: UInt32, pid: Int32) async throws -> Bool {
        let sender = try #require(Peer(name: ":1.1", uid: uid, pid: pid))
        let offered = Witness<Bool>()
        let channel = try PasscodeChannel(for: .passcode, sender: sender) { offered.record(true) }
        let theirs = try #require(channel.takeTheirs())
        channel.listen()
        #expect(send(theirs.rawValue, "2468", 4, 0) == 4)
        // A packet of somebody else is dropped, one of the sender stays for the verifier.
        try await eventually("the packet to be looked at") {
            if !offered.seen.isEmpty { return true }
            if case .none = SocketPair.peek(channel.ours) { return true }
            return false
        }
        channel.rest()
        return !offered.seen.isEmpty
    }

    @Test("L16: what is typed counts from the process that shows the prompt, and from no other")
    @BusActor func sender() async throws {
        #expect(try await Self.isOffered(uid: getuid(), pid: getpid()))
        #expect(try await Self.isOffered(uid: getuid(), pid: getppid()) == false)
        #expect(try await Self.isOffered(uid: getuid() + 1, pid: getpid()) == false)
    }
}

import DBus
import Glibc
import Linux
import TestSupport
import Testing

/// The sockets on which secrets travel.
@Suite(.timeLimit(.minutes(10)))
struct SocketPairTests {
    @Test("Descriptors that come with a packet are closed when it is looked at, and when it goes")
    func descriptors() throws {
        let (ours, theirs) = try SocketPair.make()
        let file = try Files.holding([1])
        let copies = [Int32](repeating: file.rawValue, count: MessageLimits.descriptors)
        #expect(RawClient.transmit([1], copies, over: theirs) == 1)
        #expect(SocketPair.peek(ours) == .from(pid: getpid(), uid: getuid()))
        #expect(DescriptorTests.openEnds(of: file) == 1)
        SocketPair.drop(ours)
        #expect(DescriptorTests.openEnds(of: file) == 1)
        #expect(SocketPair.peek(ours) == SocketPair.Packet.none)
    }

    @Test("No program inherits an end of a new pair")
    func closedOnExec() throws {
        let (ours, theirs) = try SocketPair.make()
        for end in [ours, theirs] { #expect(fcntl(end.rawValue, F_GETFD) & FD_CLOEXEC != 0) }
    }
}

import CFuzz
import DBus
import Glibc
import Linux

/// Packets in which somebody typed.
enum Packets {
    /// The longest text that is taken; smaller than PAM's, so that longer ones come soon.
    private static let longest = 64

    /// Sends any bytes, with a descriptor or without, or goes away: a text is what was sent, and
    /// has its end; nobody gets the descriptor.
    static func read(_ bytes: [UInt8]) {
        guard let (ours, theirs) = try? SocketPair.make() else { preconditionFailure("no sockets") }
        let (choice, sent) = (bytes.first ?? 0, Array(bytes.dropFirst()))
        let isSent = choice % 4 != 0
        if isSent {
            let copy = choice % 4 == 1 ? -1 : theirs.rawValue
            let isTaken = sent.withUnsafeBufferPointer {
                fuzz_send(theirs.rawValue, $0.baseAddress, $0.count, copy)
            }
            precondition(isTaken == 1)
            precondition(SocketPair.peek(ours) == .from(pid: getpid(), uid: getuid()))
        } else {
            shutdown(theirs.rawValue, Int32(SHUT_RDWR))
        }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: longest + 2) { buffer in
            buffer.initialize(repeating: 0)
            let text = SocketPair.readText(ours, into: buffer)
            guard isSent else { return precondition(text == .none) }
            let isFit = 1...longest ~= sent.count && !sent.contains(0)
            precondition(text == (isFit ? .bytes(sent.count) : .unfit))
            guard isFit else { return }
            precondition(buffer.map { UInt8(bitPattern: $0) }.starts(with: sent + [0]))
        }
        precondition(SocketPair.peek(ours) == (isSent ? .none : .closed))
    }
}

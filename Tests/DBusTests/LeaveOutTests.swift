import CReceive
import Glibc
import Linux
import Testing

/// Whose messages are left out, by the bytes that the bus sends.
struct LeaveOutTests {
    /// A message whose only field says who sent it.
    struct Header {
        var kind: UInt8 = 1
        var isBigEndian = false
        var sender = ":1.7"
        /// How many of the sender's bytes are behind the end of the header.
        var beyond = 0

        /// With eight bytes that belong to no field at the end.
        var bytes: [UInt8] {
            let name = Array(sender.utf8)
            let field = [7, 1, UInt8(ascii: "s"), 0] + number(name.count) + name + [0]
            let fixed = [UInt8(ascii: isBigEndian ? "B" : "l"), kind, 0, 1] + number(8) + number(9)
            let header = fixed + number(field.count - beyond) + field
            let end = (16 + field.count - beyond + 7) / 8 * 8 + 8
            return header + [UInt8](repeating: 0, count: max(0, end - header.count))
        }

        private func number(_ value: Int) -> [UInt8] {
            let value = UInt32(value)
            let bytes = withUnsafeBytes(of: value.littleEndian) { Array($0) }
            return isBigEndian ? bytes.reversed() : bytes
        }
    }

    /// Whether a message is left out where nobody but this one is not to be heard.
    private func isLeftOut(_ header: Header, unheard: String = ":1.7") throws -> Bool {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (own, other) = (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
        let watch = try #require(receive_watch_new(own.rawValue))
        defer { receive_watch_free(watch) }
        receive_watch_leave_out(watch, unheard, 1)
        let sent = header.bytes
        try #require(write(other.rawValue, sent, sent.count) == sent.count)
        receive_watch_begin(watch)
        defer { _ = receive_watch_end(watch) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { place in
            var part = iovec(iov_base: place.baseAddress, iov_len: place.count)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                (message.msg_iov, message.msg_iovlen) = (part, 1)
                return recvmsg(own.rawValue, &message, Int32(MSG_DONTWAIT))
            }
        }
        try #require(count == sent.count || count == -1 && errno == EAGAIN)
        return count == -1
    }

    @Test("L21: calls of who is not to be heard are left out, in either byte order")
    func calls() throws {
        #expect(try isLeftOut(Header()))
        #expect(try isLeftOut(Header(isBigEndian: true)))
        #expect(try !isLeftOut(Header(sender: ":1.8")))
        #expect(try !isLeftOut(Header(isBigEndian: true, sender: ":1.8")))
    }

    @Test("L21: answers, errors and signals are left out of nobody", arguments: UInt8(2)...4)
    func others(kind: UInt8) throws {
        #expect(try !isLeftOut(Header(kind: kind)))
    }

    @Test("L21: a sender that goes on behind the end of the header is nobody")
    func beyond() throws {
        #expect(try !isLeftOut(Header(beyond: 2)))
    }

    @Test("L21: a name whose number is too large stands for no other name")
    func largeNumbers() throws {
        #expect(try isLeftOut(Header(sender: ":65535.7"), unheard: ":65535.7"))
        #expect(try !isLeftOut(Header(sender: ":0.7"), unheard: ":65536.7"))
        #expect(try !isLeftOut(Header(sender: ":1.0"), unheard: ":0.281474976710656"))
    }
}

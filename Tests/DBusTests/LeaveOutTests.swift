import CReceive
import Glibc
import Linux
import TestSupport
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
        /// How many bytes there are that belong to no field, at the end.
        var rest = 8

        var bytes: [UInt8] {
            let name = Array(sender.utf8)
            let field = [7, 1, UInt8(ascii: "s"), 0] + number(name.count) + name + [0]
            let order = UInt8(ascii: isBigEndian ? "B" : "l")
            let fixed = [order, kind, 0, 1] + number(rest) + number(9)
            let header = fixed + number(field.count - beyond) + field
            let end = (16 + field.count - beyond + 7) / 8 * 8 + rest
            return header + [UInt8](repeating: 0, count: max(0, end - header.count))
        }

        private func number(_ value: Int) -> [UInt8] {
            let value = UInt32(value)
            let bytes = withUnsafeBytes(of: value.littleEndian) { Array($0) }
            return isBigEndian ? bytes.reversed() : bytes
        }
    }

    /// A connection on which one sender is not to be heard.
    private final class Watched {
        private let own: OwnedDescriptor
        let other: OwnedDescriptor
        let watch: OpaquePointer

        init(unheard: String = ":1.7") throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            own = OwnedDescriptor(adopting: ends[0])
            other = OwnedDescriptor(adopting: ends[1])
            watch = try #require(receive_watch_new(own.rawValue))
            receive_watch_leave_out(watch, unheard, 1)
        }

        deinit { receive_watch_free(watch) }

        /// Receives as sd-bus does: how many bytes came, and how many that say which descriptors.
        func receive(_ flags: Int32 = Int32(MSG_DONTWAIT)) -> (bytes: Int, control: Int) {
            var bytes = [UInt8](repeating: 0, count: 1024)
            var control = [UInt8](repeating: 0, count: 1024)
            return bytes.withUnsafeMutableBytes { place in
                control.withUnsafeMutableBytes { control in
                    var part = iovec(iov_base: place.baseAddress, iov_len: place.count)
                    return withUnsafeMutablePointer(to: &part) { part in
                        var message = msghdr()
                        (message.msg_iov, message.msg_iovlen) = (part, 1)
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                        let count = recvmsg(own.rawValue, &message, flags)
                        return (count, message.msg_controllen)
                    }
                }
            }
        }
    }

    /// Whether a message is left out where nobody but this one is not to be heard.
    private func isLeftOut(_ header: Header, unheard: String = ":1.7") throws -> Bool {
        let watched = try Watched(unheard: unheard)
        let sent = header.bytes
        try #require(write(watched.other.rawValue, sent, sent.count) == sent.count)
        receive_watch_begin(watched.watch)
        defer { _ = receive_watch_end(watched.watch) }
        let count = watched.receive().bytes
        try #require(count == sent.count || count == -1 && errno == EAGAIN)
        return count == -1
    }

    @Test("L21: a descriptor of a call that is left out is closed, and comes with no later message")
    func descriptors() throws {
        let watched = try Watched()
        let file = try Files.holding([1])
        let (unheard, heard) = (Header().bytes, Header(sender: ":1.8").bytes)
        let sent = RawClient.transmit(unheard[...], [file.rawValue], over: watched.other)
        #expect(sent == unheard.count)
        #expect(write(watched.other.rawValue, heard, heard.count) == heard.count)
        receive_watch_begin(watched.watch)
        defer { _ = receive_watch_end(watched.watch) }
        #expect(watched.receive() == (heard.count, 0))
        #expect(DescriptorTests.openEnds(of: file) == 1)
    }

    @Test("L21: descriptors of what was read and not handed over are closed with the connection")
    func unfinished() throws {
        let file = try Files.holding([1])
        do {
            let watched = try Watched()
            let heard = Header(sender: ":1.8").bytes
            for descriptors in [[], [file.rawValue]] {
                let sent = RawClient.transmit(heard[...], descriptors, over: watched.other)
                #expect(sent == heard.count)
            }
            receive_watch_begin(watched.watch)
            #expect(watched.receive() == (heard.count, 0))
            _ = receive_watch_end(watched.watch)
            // It has come, with what is not handed over yet.
            withExtendedLifetime(watched) { #expect(DescriptorTests.openEnds(of: file) == 2) }
        }
        #expect(DescriptorTests.openEnds(of: file) == 1)
    }

    @Test("L21: where a megabyte of calls is left out, others have their turn before the next one")
    func turns() throws {
        let watched = try Watched()
        let unheard = Header(rest: 1024 * 1024).bytes + Header().bytes
        let heard = Header(sender: ":1.8").bytes
        let thread = try SerialThread(named: "sender")
        defer { thread.close() }
        let other = watched.other
        // More than a socket takes at once.
        thread.perform {
            for sent in [unheard, heard] {
                var rest = sent[...]
                while !rest.isEmpty {
                    let count = RawClient.transmit(rest, [], over: other)
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
        receive_watch_begin(watched.watch)
        let first = watched.receive(0).bytes
        let hasPaused = receive_watch_end(watched.watch) != 0
        try #require(first == -1 && hasPaused)
        receive_watch_begin(watched.watch)
        #expect(watched.receive(0).bytes == heard.count)
        #expect(receive_watch_end(watched.watch) == 0)
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

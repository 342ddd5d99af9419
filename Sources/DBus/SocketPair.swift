import CLinux
import Glibc
public import Linux

/// Pairs of sockets that keep packets apart (`SOCK_SEQPACKET`), on which secrets travel: whoever
/// receives makes the pair and gives the other end away, because a bus monitor gets a copy of it.
public enum SocketPair {
    /// What waits at an end.
    public enum Packet: Equatable, Sendable {
        /// Nothing.
        case none
        /// Nothing, and nothing will: the other end is closed.
        case closed
        /// A packet, and who sent it.
        case from(pid: Int32, uid: UInt32)
    }

    /// A new pair.
    ///
    /// The first end tells who sent a packet: that is switched on before the second is given away,
    /// because of a packet sent earlier the kernel does not know it.
    ///
    /// - Throws: LimitsExceeded when there are no descriptors left.
    public static func make() throws(DBusError) -> (ours: OwnedDescriptor, theirs: OwnedDescriptor)
    {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            throw DBusError(.limitsExceeded, "no socket pair can be made")
        }
        let ours = OwnedDescriptor(adopting: pair[0])
        let theirs = OwnedDescriptor(adopting: pair[1])
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(ours.rawValue, SOL_SOCKET, SO_PASSCRED, &on, size) == 0 else {
            throw DBusError(.failed, "the sender of a packet can't be asked for")
        }
        return (ours, theirs)
    }

    /// Who sent the packet that waits.
    ///
    /// None of its bytes are read.
    public static func peek(_ end: OwnedDescriptor) -> Packet {
        receive(end, flags: Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    }

    /// Throws the packet that waits away, unread.
    public static func drop(_ end: OwnedDescriptor) {
        _ = receive(end, flags: Int32(MSG_DONTWAIT))
    }

    /// What a packet with a text is.
    package enum Text: Equatable, Sendable {
        /// There is none: nothing came, and nothing will.
        case none
        /// Empty, too long, or with a NUL: no C string.
        case unfit
        /// A text of so many bytes.
        case bytes(Int)
    }

    // The text stays in one buffer that its owner wipes; an array could be copied.
    /// Reads the packet that waits into a buffer that is full of zeros, and has room for a NUL and
    /// one byte more than a text may have.
    package static func readText(
        _ end: OwnedDescriptor,
        into buffer: UnsafeMutableBufferPointer<CChar>
    ) -> Text {
        // An empty packet looks like the end of file, but somebody sent it.
        let isPacket = peek(end) != .closed
        guard let text = buffer.baseAddress else { return .unfit }
        let count = recv(end.rawValue, text, buffer.count - 1, 0)
        guard count > 0 || count == 0 && isPacket else { return .none }
        guard 1...buffer.count - 2 ~= count, memchr(text, 0, count) == nil else { return .unfit }
        return .bytes(count)
    }

    private static func receive(_ end: OwnedDescriptor, flags: Int32) -> Packet {
        var control = [UInt64](repeating: 0, count: 32)
        return control.withUnsafeMutableBytes { buffer in
            var header = msghdr()
            header.msg_control = buffer.baseAddress
            header.msg_controllen = buffer.count
            let got = recvmsg(end.rawValue, &header, flags | Int32(MSG_CMSG_CLOEXEC))
            if got < 0 { return errno == EAGAIN || errno == EINTR ? .none : .closed }
            return credentials(in: &header, buffer)
        }
    }

    /// The credentials among the control messages; descriptors that came along are closed.
    private static func credentials(
        in header: inout msghdr,
        _ buffer: UnsafeMutableRawBufferPointer
    ) -> Packet {
        var result = Packet.closed
        var offset = 0
        let length = Int(header.msg_controllen)
        let headSize = MemoryLayout<cmsghdr>.size
        while offset + headSize <= length {
            let head = buffer.loadUnaligned(fromByteOffset: offset, as: cmsghdr.self)
            let size = Int(head.cmsg_len)
            guard size >= headSize, offset + size <= length else { break }
            if head.cmsg_level == SOL_SOCKET, head.cmsg_type == Int32(SCM_CREDENTIALS),
                size >= headSize + MemoryLayout<ucred>.size
            {
                let who = buffer.loadUnaligned(fromByteOffset: offset + headSize, as: ucred.self)
                result = .from(pid: who.pid, uid: who.uid)
            } else if head.cmsg_level == SOL_SOCKET, head.cmsg_type == Int32(SCM_RIGHTS) {
                for index in stride(from: offset + headSize, to: offset + size - 3, by: 4) {
                    close(buffer.loadUnaligned(fromByteOffset: index, as: Int32.self))
                }
            }
            offset += (size + 7) & ~7
        }
        return result
    }
}

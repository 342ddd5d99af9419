import CLinux
import Glibc
import Linux

/// A connection to a bus that keeps no rule of good behaviour: it writes bytes of its own, and
/// reads only when it is told to.
///
/// A library of D-Bus would count descriptors, wait for replies and answer for us.
final class RawConnection {
    /// What became of a call.
    enum Sent {
        case sent
        /// The bus reads nothing more for now; the call wasn't taken.
        case full
        /// The bus has closed the connection.
        case closed
    }

    private let socket: OwnedDescriptor
    private var serial: UInt32 = 0
    /// What of the last message isn't written yet, and the descriptors that go with its first byte.
    private var rest: (bytes: ArraySlice<UInt8>, descriptors: [Int32]) = ([], [])

    /// Connects, proves who it is, and says Hello; the answers stay unread.
    init?(_ path: String) {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        socket = OwnedDescriptor(adopting: descriptor)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, handshake() else { return nil }
        let hello = Call(
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            signature: ""
        )
        guard send(hello, to: "org.freedesktop.DBus") == .sent else { return nil }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// EXTERNAL, with the uid of this process, and the wish to pass descriptors.
    private func handshake() -> Bool {
        let uid = String(getuid()).utf8
            .map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
        let words = ["\0AUTH EXTERNAL \(uid.joined())\r\n", "NEGOTIATE_UNIX_FD\r\n"]
        for word in words {
            let bytes = Array(word.utf8)
            guard Glibc.write(socket.rawValue, bytes, bytes.count) == bytes.count else {
                return false
            }
            var answer = [UInt8](repeating: 0, count: 256)
            guard recv(socket.rawValue, &answer, answer.count, 0) > 0 else { return false }
        }
        let begin = Array("BEGIN\r\n".utf8)
        return Glibc.write(socket.rawValue, begin, begin.count) == begin.count
    }

    /// Sends one call, if there is room for it, with so many descriptors beside those of its
    /// signature.
    func send(
        _ call: Call,
        to destination: String = "org.localauth.Authentication1",
        surplus: Int = 0
    ) -> Sent {
        let before = flush()
        guard before == .sent else { return before }
        serial &+= 1
        let count = call.descriptors + surplus
        rest.bytes = call.message(serial, to: destination, descriptors: count)[...]
        rest.descriptors = [Int32](repeating: socket.rawValue, count: count)
        // What isn't written now goes before the next call.
        return flush() == .closed ? .closed : .sent
    }

    /// Writes as much of the last message as there is room for.
    private func flush() -> Sent {
        while !rest.bytes.isEmpty {
            let written = write()
            if written > 0 {
                rest = (rest.bytes.dropFirst(written), [])
            } else if errno != EINTR {
                return errno == EAGAIN ? .full : .closed
            }
        }
        return .sent
    }

    private func write() -> Int {
        // A header of the size of cmsghdr: length, level, type; then the numbers.
        let size = MemoryLayout<cmsghdr>.size
        let length = size + rest.descriptors.count * 4
        var control = [UInt8](repeating: 0, count: (length + 7) / 8 * 8)
        control.withUnsafeMutableBytes { room in
            room.storeBytes(of: length, as: Int.self)
            room.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            room.storeBytes(of: Int32(1), toByteOffset: 12, as: Int32.self)
            for (index, descriptor) in rest.descriptors.enumerated() {
                room.storeBytes(of: descriptor, toByteOffset: size + index * 4, as: Int32.self)
            }
        }
        return rest.bytes.withUnsafeBytes { bytes in
            control.withUnsafeMutableBytes { control in
                let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                var part = iovec(iov_base: start, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    if !rest.descriptors.isEmpty {
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                    }
                    return sendmsg(socket.rawValue, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    /// Throws away what has come.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while recv(socket.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
}

public import BusBench
import CLinux
package import DBus
import Glibc
package import Linux
import Synchronization

/// A bus connection without a library, which reads only on demand and sends messages that no
/// library would send.
public final class RawClient: Sendable {
    /// The unique name.
    public var name: String { state.withLock { $0.name } }
    private let socket: OwnedDescriptor
    private let state = Mutex((name: "", serial: UInt32(0)))
    /// The unwritten rest of the last message, and the descriptors that go with its first byte.
    private let rest = Mutex<(bytes: ArraySlice<UInt8>, descriptors: [Int32])>(([], []))

    public enum Kind: UInt8, Sendable {
        case call = 1
        /// A reply to a call.
        case answer = 2
        case signal = 4
    }

    /// The result of a message that is not waited for.
    public enum Offer: Sendable {
        /// The message is written, or its rest goes before the next message.
        case taken
        /// The bus has stopped reading; the message was not accepted.
        case full
        case closed
    }

    /// Connects and says Hello.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - isPatient: Whether to wait for the reply to Hello and for room to send. An impatient
    ///     client has no name, and sends with `offer`.
    /// - Throws: If there is no bus at the address.
    public convenience init(_ address: String, isPatient: Bool = true) throws(TestFailure) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = OwnedDescriptor(adopting: Glibc.socket(AF_UNIX, kind, 0))
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        let path = address.dropFirst("unix:path=".count)
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.rawValue, $0, size)
            }
        }
        try expect(result == 0, "no bus at \(address)")
        try self.init(over: socket, isPatient: isPatient)
    }

    /// Says Hello over a socket that is connected to a bus.
    package init(over socket: OwnedDescriptor, isPatient: Bool = true) throws(TestFailure) {
        self.socket = socket
        try greet()
        guard isPatient else {
            _ = fcntl(socket.rawValue, F_SETFL, fcntl(socket.rawValue, F_GETFL) | O_NONBLOCK)
            return
        }
        let answer = try receive(until: ":1.")
        let start = answer.firstRange(of: ":1.")?.lowerBound ?? answer.startIndex
        let name = String(answer[start...].prefix { $0 == ":" || $0 == "." || $0.isNumber })
        state.withLock { $0.name = name }
    }

    private func greet() throws(TestFailure) {
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try say("\0AUTH EXTERNAL \(user)\r\n", until: "OK ")
        try say("NEGOTIATE_UNIX_FD\r\n", until: "AGREE_UNIX_FD")
        try expect(write(Array("BEGIN\r\n".utf8), []), "the bus is gone")
        try send(
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello"
        )
    }

    private func say(_ line: String, until answer: String) throws(TestFailure) {
        try expect(write(Array(line.utf8), []), "the bus is gone")
        _ = try receive(until: answer)
    }

    /// Reads until a text arrives, and returns the data read, as Latin-1.
    ///
    /// - Throws: After 60 s without data, or when the bus has closed the connection.
    public func receive(until text: String) throws(TestFailure) -> String {
        var all = ""
        var waiting = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !all.contains(text) {
            try expect(poll(&waiting, 1, 60_000) > 0, "'\(text)' did not come after '\(all)'")
            let count = read(socket.rawValue, &chunk, chunk.count)
            try expect(count > 0, "the bus has ended the connection")
            // Keep only the end of earlier data, in case the text is split.
            let more = chunk[..<count].map { String(UnicodeScalar($0)) }.joined()
            all = String(all.suffix(256)) + more
        }
        return all
    }

    /// Sends a message with a body in D-Bus's layout for the signature.
    ///
    /// `count` copies of a descriptor go with it. A call may omit the interface; a reply names
    /// the serial of its call.
    ///
    /// - Throws: If the bus has closed the connection.
    package func send(
        _ kind: Kind = .call,
        to destination: String,
        path: String = "/",
        interface: String?,
        member: String,
        signature: String = "",
        body: [UInt8] = [],
        descriptor: OwnedDescriptor? = nil,
        count: Int = 0,
        answering number: UInt32 = 1
    ) throws(TestFailure) {
        let message = self.message(
            kind,
            to: destination,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            body: body,
            count: count,
            answering: number
        )
        let descriptors = descriptor.map { [Int32](repeating: $0.rawValue, count: count) } ?? []
        try expect(write(message, descriptors), "the bus has ended the connection")
    }

    /// Answers another connection's call with a descriptor, which `Connection` cannot do.
    ///
    /// The called connection must leave the call unanswered, and the bus must deliver forged
    /// replies.
    @BusActor package func answer(
        _ call: IncomingCall,
        with descriptor: OwnedDescriptor
    ) throws(TestFailure) {
        try send(
            .answer,
            to: call.peer.name,
            interface: nil,
            member: call.member,
            signature: "h",
            body: [0, 0, 0, 0],
            descriptor: descriptor,
            count: 1,
            answering: call.serial
        )
    }

    /// Sends a message if there is room, optionally without expecting a reply, with copies of this
    /// client's socket.
    public func offer(
        _ kind: Kind = .call,
        to destination: String,
        path: String,
        interface: String,
        member: String,
        signature: String = "",
        body: [UInt8] = [],
        copies: Int = 0,
        wantsAnswer: Bool = true
    ) -> Offer {
        let before = flush()
        guard before == .taken else { return before }
        let message = self.message(
            kind,
            to: destination,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            body: body,
            count: copies,
            flags: wantsAnswer ? 0 : 1
        )
        let descriptors = [Int32](repeating: socket.rawValue, count: copies)
        rest.withLock { $0 = (message[...], descriptors) }
        // The unwritten rest goes before the next message.
        return flush() == .closed ? .closed : .taken
    }

    /// Writes as much of the last message as fits.
    private func flush() -> Offer {
        rest.withLock { rest in
            while !rest.bytes.isEmpty {
                let written = writeSome(rest.bytes, rest.descriptors)
                if written > 0 {
                    rest = (rest.bytes.dropFirst(written), [])
                } else if errno != EINTR {
                    return errno == EAGAIN ? .full : .closed
                }
            }
            return .taken
        }
    }

    /// Disconnects; sending is impossible afterwards.
    public func hangUp() {
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
    }

    /// Discards received data.
    public func drain() {
        while takeSome()?.isEmpty == false {}
    }

    /// Returns received data, or an empty array; nil if the bus has closed the connection.
    public func takeSome() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count != 0 else { return nil }
        return count > 0 ? Array(bytes[..<count]) : errno == EAGAIN ? [] : nil
    }

    private func message(
        _ kind: Kind,
        to destination: String,
        path: String,
        interface: String?,
        member: String,
        signature: String,
        body: [UInt8],
        count: Int,
        flags: UInt8 = 0,
        answering number: UInt32 = 1
    ) -> [UInt8] {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        var fields = RawValues()
        fields.field(1, "o", path)
        if let interface { fields.field(2, "s", interface) }
        fields.field(3, "s", member)
        if kind == .answer { fields.field(5, number) }
        fields.field(6, "s", destination)
        if !signature.isEmpty { fields.signature(8, signature) }
        if count > 0 { fields.field(9, UInt32(count)) }
        var message = RawValues()
        message.append(raw: [UInt8(ascii: "l"), kind.rawValue, flags, 1])
        message.append(UInt32(body.count))
        message.append(serial)
        message.append(UInt32(fields.bytes.count))
        message.append(raw: fields.bytes)
        message.pad(8)
        return message.bytes + body
    }

    /// Writes all bytes; the descriptors go with the first byte.
    private func write(_ bytes: [UInt8], _ descriptors: [Int32]) -> Bool {
        var rest = bytes[...]
        var descriptors = descriptors
        while !rest.isEmpty {
            let sent = writeSome(rest, descriptors)
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
            descriptors = []
        }
        return true
    }

    /// Returns the result of sendmsg(2).
    private func writeSome(_ bytes: ArraySlice<UInt8>, _ descriptors: [Int32]) -> Int {
        Self.control(descriptors) { control in
            bytes.withUnsafeBytes { bytes in
                var part = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    iov_len: bytes.count
                )
                return withUnsafeMutablePointer(to: &part) { part in
                    var header = msghdr()
                    header.msg_iov = part
                    header.msg_iovlen = 1
                    header.msg_control = control.baseAddress
                    header.msg_controllen = control.count
                    return sendmsg(socket.rawValue, &header, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    private static func control<Value>(
        _ descriptors: [Int32],
        _ body: (UnsafeMutableRawBufferPointer) -> Value
    ) -> Value {
        let size = MemoryLayout<cmsghdr>.size + descriptors.count * 4
        guard !descriptors.isEmpty else { return body(.init(start: nil, count: 0)) }
        var control = [UInt64](repeating: 0, count: (size + 7) / 8)
        return control.withUnsafeMutableBytes { control in
            var head = cmsghdr()
            head.cmsg_len = size
            head.cmsg_level = SOL_SOCKET
            head.cmsg_type = Int32(SCM_RIGHTS)
            control.storeBytes(of: head, as: cmsghdr.self)
            for (index, number) in descriptors.enumerated() {
                let offset = MemoryLayout<cmsghdr>.size + index * 4
                control.storeBytes(of: number, toByteOffset: offset, as: Int32.self)
            }
            return body(.init(rebasing: control[..<size]))
        }
    }
}

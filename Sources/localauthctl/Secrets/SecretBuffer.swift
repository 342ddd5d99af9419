import Glibc

/// Bytes of a secret, wiped when nobody has them any more.
final class SecretBuffer {
    /// The largest secret of the keychain, in bytes.
    static let limit = 65_536

    private(set) var bytes: [UInt8]

    init(_ bytes: consuming [UInt8]) { self.bytes = bytes }

    /// As much as one read or one packet may bring, zeroed.
    convenience init(capacity: Int) { self.init([UInt8](repeating: 0, count: capacity)) }

    deinit {
        let count = bytes.count
        bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { explicit_bzero(start, count) }
        }
    }

    /// Fills the buffer from a descriptor, up to its end.
    /// - Returns: how many bytes came, or -1 for a failure.
    func fill(from descriptor: Int32) -> Int {
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return got < 0 ? -1 : count }
            count += got
        }
        return count
    }

    /// Takes the packet that waits; a secret comes before the reply.
    /// - Returns: how many bytes it has, 0 for none.
    func receive(from descriptor: Int32) -> Int {
        bytes.withUnsafeMutableBytes { buffer in
            max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
    }

    /// Writes the first bytes, all of them.
    func write(_ count: Int, to descriptor: Int32) -> Bool {
        var done = 0
        while done < count {
            let put = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, count - done)
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { return false }
            done += put
        }
        return true
    }
}

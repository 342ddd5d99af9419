import Glibc

/// The bytes of a secret; they are overwritten when the buffer is deallocated.
final class SecretBuffer {
    /// The largest secret of the keychain, in bytes.
    static let limit = 65_536

    private(set) var bytes: [UInt8]

    init(_ bytes: consuming [UInt8]) { self.bytes = bytes }

    /// A buffer of zeros for one read or one packet of at most `capacity` bytes.
    convenience init(capacity: Int) { self.init([UInt8](repeating: 0, count: capacity)) }

    deinit {
        let count = bytes.count
        bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { explicit_bzero(start, count) }
        }
    }

    /// Reads from a descriptor until the buffer is full or the input ends.
    /// - Returns: how many bytes were read, or -1 after an error.
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

    /// Receives one packet without waiting: the service sends the secret before its reply.
    /// - Returns: the number of bytes in the packet; 0 when there is none.
    func receive(from descriptor: Int32) -> Int {
        bytes.withUnsafeMutableBytes { buffer in
            max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
    }

    /// Writes the first `count` bytes; false when not all could be written.
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

import Glibc
import Sealing

extension SecretBytes {
    /// Reads until the input ends, at most `limit` bytes; nil with the reason in `errno`.
    static func read(from descriptor: Int32, limit: Int) -> SecretBytes? {
        var buffer = [UInt8](repeating: 0, count: limit)
        defer { wipe(&buffer) }
        var count = 0
        while count < limit {
            let got = buffer.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, limit - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { return nil }
            if got == 0 { break }
            count += got
        }
        return SecretBytes(Array(buffer[..<count]))
    }
}

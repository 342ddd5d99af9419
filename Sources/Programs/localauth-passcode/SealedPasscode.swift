import Glibc
import Linux
import Sealing

/// A sealed password on its way to the child that opens it.
///
/// The parent never has it in the clear.
struct SealedPasscode: Sendable {
    /// The maximum size of the handle, and of the sealed value, in bytes.
    static let longest = 2048
    private static let keySize = 32

    let key: SealingKey
    /// The handle of the prompt that sealed the password.
    let prompt: String
    let sealed: [UInt8]

    /// Writes everything into a pipe without blocking: a pipe's buffer is large enough.
    func write(to pipe: OwnedDescriptor) -> Bool {
        key.rawRepresentation.use { key in
            var bytes = key + [UInt8(prompt.utf8.count / 256), UInt8(prompt.utf8.count % 256)]
            bytes += Array(prompt.utf8) + sealed
            defer { wipe(&bytes) }
            return pipe.write(bytes)
        }
    }

    /// Reads a pipe to its end and opens the password.
    ///
    /// - Returns: Nil when it does not open, or is empty.
    static func open(from pipe: Int32) -> SecretBytes? {
        var bytes = [UInt8](repeating: 0, count: keySize + 2 + 2 * longest)
        defer { wipe(&bytes) }
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                read(pipe, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            count += got
        }
        guard count > keySize + 2, let key = SealingKey(SecretBytes(Array(bytes[..<keySize])))
        else {
            return nil
        }
        let start = keySize + 2 + Int(bytes[keySize]) * 256 + Int(bytes[keySize + 1])
        guard start <= count else { return nil }
        let prompt = String(decoding: bytes[(keySize + 2)..<start], as: UTF8.self)
        let passcode = key.open(Array(bytes[start..<count]), for: .passcode, of: prompt)
        return passcode?.count == 0 ? nil : passcode
    }
}

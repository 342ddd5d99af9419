import Crypto
import Linux
import SQLite

/// The key of this machine: 32 random bytes in a file of ours alone.
enum MachineKey {
    static let file = "machine.key"
    static let size = 32

    /// Reads the key, or makes it at the first start.
    static func load(in directory: PrivateDirectory) throws(SystemError) -> SymmetricKey {
        let path = directory.file(file)
        if try !PrivateFile.exists(path) {
            try directory.replace(file, with: random(count: size))
        }
        // Longer than the key, so that a longer file is seen to be one.
        let bytes = try directory.content(of: file, limit: 1 << 20) ?? []
        guard bytes.count == size else {
            throw SystemError(
                .damaged,
                "The machine key must have \(size) bytes. Restore it; without it every app sees "
                    + "a changed enrolment and the keychain can't be read.",
                path: path
            )
        }
        return SymmetricKey(data: bytes)
    }

    /// Random bytes of the kernel: that is what Swift's own generator hands out.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

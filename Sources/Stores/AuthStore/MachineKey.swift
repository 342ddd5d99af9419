import Crypto
import Linux
import SQLite

/// The machine key: 32 random bytes in a private file.
enum MachineKey {
    static let file = "machine.key"
    static let size = 32

    static func load(in directory: PrivateDirectory) throws(SystemError) -> SymmetricKey {
        let path = directory.file(file)
        if try !PrivateFile.exists(path) {
            try directory.replace(file, with: random(count: size))
        }
        // The limit exceeds the key's size, so that a longer file is detected.
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

    /// Random bytes of the kernel, which Swift's default generator provides.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

import Crypto
import Glibc

/// The key of this machine: 32 random bytes in a file of ours alone.
enum MachineKey {
    static let size = 32

    /// Reads the key, or makes it at the first start.
    static func load(in directory: PrivateDirectory) throws(StoreError) -> SymmetricKey {
        let file = directory.key
        if try !PrivateDirectory.holdsPrivateFile(file) {
            let fresh = file + ".new"
            // What an interrupted first start left; nobody has used it.
            unlink(fresh)
            try PrivateDirectory.makePrivateFile(fresh, random(count: size))
            guard rename(fresh, file) == 0 else {
                throw StoreError(errno: errno, "The machine key can't be put in place", path: file)
            }
            try directory.synchronize()
        }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw StoreError(errno: errno, "The machine key can't be read", path: file)
        }
        defer { close(descriptor) }
        // One more than it has, so that a longer file is seen to be one.
        var bytes = [UInt8](repeating: 0, count: size + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count == size else {
            throw StoreError(
                .damaged,
                "The machine key must have \(size) bytes. Restore it; without it every app sees "
                    + "a changed enrolment and the keychain can't be read.",
                path: file
            )
        }
        return SymmetricKey(data: bytes.prefix(size))
    }

    /// Random bytes of the kernel: that is what Swift's own generator hands out.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

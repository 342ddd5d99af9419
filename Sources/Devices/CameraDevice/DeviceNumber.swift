import Glibc

/// What the kernel calls a character device: `81:0`.
package struct DeviceNumber: Hashable, Sendable, CustomStringConvertible {
    /// Major and minor, as `/sys/dev/char` has them.
    package let description: String

    /// Of a device node; nil: there is none.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of what is open; nil: no character device.
    init?(ofDescriptor descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFCHR else { return nil }
        let number = UInt64(status.st_rdev)
        // The encoding of glibc's makedev(3).
        let major = (number >> 8) & 0xFFF | (number >> 32) & 0xFFFF_F000
        let minor = number & 0xFF | (number >> 12) & 0xFFFF_FF00
        description = "\(major):\(minor)"
    }
}

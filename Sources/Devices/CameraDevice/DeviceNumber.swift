import Glibc

/// The device number of a character device, such as `81:0`.
package struct DeviceNumber: Hashable, Sendable, CustomStringConvertible {
    /// Major and minor number, as in `/sys/dev/char`.
    package let description: String

    /// The number of a device node; nil if the path is no character device.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The number of an open device; nil if the descriptor is no character device.
    init?(ofDescriptor descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFCHR else { return nil }
        let number = UInt64(status.st_rdev)
        // Decode as glibc's makedev(3) encodes.
        let major = (number >> 8) & 0xFFF | (number >> 32) & 0xFFFF_F000
        let minor = number & 0xFF | (number >> 12) & 0xFFFF_FF00
        description = "\(major):\(minor)"
    }
}

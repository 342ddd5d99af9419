import Glibc

/// The running kernel: the id of this boot, and the time since it began.
package enum Boot {
    /// A random identifier of this boot; nil when the kernel does not tell.
    package static func id() -> String? {
        // The kernel writes a UUID of 36 characters and a newline.
        let path = "/proc/sys/kernel/random/boot_id"
        guard let bytes = OwnedDescriptor.open(path, O_RDONLY)?.content(limit: 37),
            bytes.count == 37
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    /// Nanoseconds since boot (`CLOCK_BOOTTIME`), which count suspended time and cannot be set.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

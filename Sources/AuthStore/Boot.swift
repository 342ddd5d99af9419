public import AuthEngine
import Glibc

/// The running kernel: which boot this is and how long ago it began.
public enum Boot {
    /// An identifier that every boot makes anew; nil when the kernel doesn't say.
    public static func id() -> String? {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The kernel writes a UUID of 36 characters and a newline.
        var bytes = [UInt8](repeating: 0, count: 37)
        guard read(descriptor, &bytes, bytes.count) == bytes.count else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    /// The time since then: it goes on during suspend and can't be set.
    public static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

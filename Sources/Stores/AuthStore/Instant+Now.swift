public import AuthEngine
import Linux

extension Instant {
    /// The present time on the boot's clock.
    public static func now() -> Instant { Instant(nanoseconds: Boot.nanoseconds()) }
}

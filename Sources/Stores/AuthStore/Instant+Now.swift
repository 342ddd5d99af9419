package import AuthEngine
import Linux

extension Instant {
    /// The present time on the boot's clock.
    package static func now() -> Instant { Instant(nanoseconds: Boot.nanoseconds()) }
}

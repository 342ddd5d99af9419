package import AuthEngine
import Linux

extension Instant {
    package static func now() -> Instant { Instant(nanoseconds: Boot.nanoseconds()) }
}

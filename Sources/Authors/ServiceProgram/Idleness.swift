import DBus

/// The conditions under which a service can exit until the bus starts it again.
public struct Idleness: Sendable {
    let served: @BusActor @Sendable () -> UInt64
    let mayEnd: @BusActor @Sendable () -> Bool
    let releaseNames: @BusActor @Sendable () async -> Void

    /// Describes when a service is idle, and how it leaves the bus.
    ///
    /// - Parameters:
    ///   - served: Returns the number of calls served so far.
    ///   - mayEnd: Returns whether no work is running and no unsaved state exists.
    ///   - releaseNames: Refuses new work and releases the bus names; returns once the callers
    ///     know.
    public init(
        served: @escaping @BusActor @Sendable () -> UInt64,
        mayEnd: @escaping @BusActor @Sendable () -> Bool,
        releaseNames: @escaping @BusActor @Sendable () async -> Void
    ) {
        self.served = served
        self.mayEnd = mayEnd
        self.releaseNames = releaseNames
    }
}

extension ProgramArguments {
    /// The value of ``ProgramOption/idleTimeout``; nil if absent.
    ///
    /// - Throws: ``UsageError`` unless the value is a number of seconds from 1 to 86,400.
    var idleTimeout: Duration? {
        get throws(UsageError) {
            guard let word = self[ProgramOption.idleTimeout.name] else { return nil }
            guard let seconds = Int(word), (1...86_400).contains(seconds) else {
                throw UsageError("--idle-timeout is a number of seconds, not '\(word)'")
            }
            return .seconds(seconds)
        }
    }
}

import DBus

/// When a service needs no process, so that it can end and leave it to the bus to start it again.
public struct Idleness: Sendable {
    /// How many calls it has served so far.
    let served: @BusActor @Sendable () -> UInt64
    /// Whether nothing runs, and nothing that counts is in memory alone.
    let mayEnd: @BusActor @Sendable () -> Bool
    /// Begins nothing new, and gives its names back; returns when its callers have heard of that.
    let leave: @BusActor @Sendable () async -> Void

    /// Says when it is idle, and how it leaves.
    ///
    /// - Parameters:
    ///   - served: How many calls it has served so far.
    ///   - mayEnd: Whether nothing runs, and nothing that counts is in memory alone.
    ///   - leave: Begins nothing new, and gives its names back; returns when who may call it has
    ///     heard of that.
    public init(
        served: @escaping @BusActor @Sendable () -> UInt64,
        mayEnd: @escaping @BusActor @Sendable () -> Bool,
        leave: @escaping @BusActor @Sendable () async -> Void
    ) {
        self.served = served
        self.mayEnd = mayEnd
        self.leave = leave
    }
}

extension ProgramArguments {
    /// The value of ``ProgramOption/idleTimeout``; nil: none was given.
    ///
    /// - Throws: ``UsageError`` unless it is a number of seconds from 1 to 86,400.
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

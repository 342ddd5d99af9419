import DBus

/// What the last match showed, for as long as the passcode may still confirm it.
///
/// It is there once, for the connection that asked for the match.
@BusActor final class KeptMatch {
    /// Learns from the match, and answers whether something was added.
    typealias Lesson = @BusActor @Sendable () async throws(SensorFault) -> Bool

    private let patience: Duration
    private var number: UInt64?
    private var lesson: Lesson?
    private weak var caller: AnyObject?
    private var timer: EventSource?

    init(patience: Duration = .seconds(30)) { self.patience = patience }

    /// Keeps what an operation showed, in place of what was kept before.
    func keep(_ lesson: @escaping Lesson, of number: UInt64, for caller: AnyObject) {
        drop()
        (self.number, self.lesson, self.caller) = (number, lesson, caller)
        timer = EventLoop.shared.schedule(after: patience) { [weak self] in self?.drop() }
    }

    /// Hands it out, once; nil: it is another operation's, another's, or nothing is kept any more.
    func take(_ number: UInt64, for caller: AnyObject) -> Lesson? {
        guard self.number == number, self.caller === caller else { return nil }
        let taken = lesson
        drop()
        return taken
    }

    /// Lets go of what is kept.
    func drop() {
        timer?.cancel()
        (timer, number, lesson, caller) = (nil, nil, nil, nil)
    }
}

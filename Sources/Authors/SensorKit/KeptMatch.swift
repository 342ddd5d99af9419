import DBus

/// The data of the last match, kept while the password may still confirm it.
///
/// Only the connection that requested the match can take it, and only once.
@BusActor final class KeptMatch {
    /// Updates the template from the match; returns whether anything was added.
    typealias Lesson = @BusActor @Sendable () async throws(SensorFault) -> Bool

    private let patience: Duration
    private var number: UInt64?
    private var lesson: Lesson?
    private weak var caller: AnyObject?
    private var timer: EventSource?

    init(patience: Duration = .seconds(30)) { self.patience = patience }

    /// Stores the lesson of an operation in place of an earlier lesson.
    func keep(_ lesson: @escaping Lesson, of number: UInt64, for caller: AnyObject) {
        drop()
        (self.number, self.lesson, self.caller) = (number, lesson, caller)
        timer = EventLoop.shared.schedule(after: patience) { [weak self] in self?.drop() }
    }

    /// Returns the lesson once; nil for another operation or caller, or after expiry.
    func take(_ number: UInt64, for caller: AnyObject) -> Lesson? {
        guard self.number == number, self.caller === caller else { return nil }
        let taken = lesson
        drop()
        return taken
    }

    func drop() {
        timer?.cancel()
        (timer, number, lesson, caller) = (nil, nil, nil, nil)
    }
}

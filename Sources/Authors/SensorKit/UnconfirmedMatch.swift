import DBus

/// The data of the last match, kept while the password may still confirm it.
///
/// Only the connection that requested the match can take it, and only once.
@BusActor final class UnconfirmedMatch {
    /// Updates the template from the match; returns whether anything was added.
    typealias TemplateUpdate = @BusActor @Sendable () async throws(SensorFault) -> Bool

    private let patience: Duration
    private var number: UInt64?
    private var update: TemplateUpdate?
    private weak var caller: AnyObject?
    private var timer: EventSource?

    init(patience: Duration = .seconds(30)) { self.patience = patience }

    /// Stores the update of an operation in place of an earlier update.
    func keep(_ update: @escaping TemplateUpdate, of number: UInt64, for caller: AnyObject) {
        drop()
        (self.number, self.update, self.caller) = (number, update, caller)
        timer = EventLoop.shared.schedule(after: patience) { [weak self] in self?.drop() }
    }

    /// Returns the update once; nil for another operation or caller, or after expiry.
    func take(_ number: UInt64, for caller: AnyObject) -> TemplateUpdate? {
        guard self.number == number, self.caller === caller else { return nil }
        let taken = update
        drop()
        return taken
    }

    func drop() {
        timer?.cancel()
        (timer, number, update, caller) = (nil, nil, nil, nil)
    }
}

/// A callback of the loop or a connection, until it is canceled.
///
/// The loop keeps the source alive: releasing the value does not cancel it.
@BusActor
public final class EventSource {
    private var forget: (@BusActor () -> Void)?
    var body: (@BusActor () -> Void)?

    /// Creates a source whose ``cancel()`` calls `forget` once.
    public init(forget: @escaping @BusActor () -> Void) {
        self.forget = forget
    }

    init(body: @escaping @BusActor () -> Void, forget: @escaping @BusActor () -> Void) {
        self.body = body
        self.forget = forget
    }

    /// Whether the source has been canceled, or has fired for the only time.
    var isOver: Bool { forget == nil }

    /// Ends the source.
    ///
    /// Further calls do nothing.
    public func cancel() {
        // Keep the closure's captures, such as the watched descriptor, alive until the source is
        // canceled.
        let body = body
        let forget = forget
        self.body = nil
        self.forget = nil
        withExtendedLifetime(body) { forget?() }
    }

    /// Fires a timer for the only time.
    func fire() {
        let body = body
        self.body = nil
        forget = nil
        body?()
    }
}

/// Something that the loop or a connection calls until it is canceled.
///
/// The loop keeps it alive: letting go of the value does not cancel it.
@BusActor
public final class EventSource {
    private var forget: (@BusActor () -> Void)?
    var body: (@BusActor () -> Void)?

    /// A source whose ``cancel()`` calls `forget` once.
    public init(forget: @escaping @BusActor () -> Void) {
        self.forget = forget
    }

    init(body: @escaping @BusActor () -> Void, forget: @escaping @BusActor () -> Void) {
        self.body = body
        self.forget = forget
    }

    /// Whether it has been canceled, or has fired for the only time.
    var isOver: Bool { forget == nil }

    /// Ends it.
    ///
    /// Calling it again does nothing.
    public func cancel() {
        // What the closure captures, such as the watched descriptor, is kept alive until the source
        // is canceled.
        let body = body
        let forget = forget
        self.body = nil
        self.forget = nil
        withExtendedLifetime(body) { forget?() }
    }

    /// A timer that has fired has nothing to forget.
    func fire() {
        let body = body
        self.body = nil
        forget = nil
        body?()
    }
}

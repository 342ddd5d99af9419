import DBus

/// What a sensor could not do, for the administrator.
///
/// The daemon shows people a fault once, so it is kept for the log and for Health.
@BusActor final class FaultNotes {
    /// What was asked of the sensor.
    enum Request: Hashable {
        /// Verify, Enroll, and what changes templates.
        case operation
        /// The list of templates, which is asked for all the time.
        case list
    }

    private var sentences: [Request: String] = [:]
    private let tell: @BusActor (String) -> Void

    /// Every message is also passed to `tell`.
    init(_ tell: @escaping @BusActor (String) -> Void) {
        self.tell = tell
    }

    /// The last message, until an operation works again.
    var last: String? { sentences[.operation] ?? sentences[.list] }

    /// It did what it was asked; a successful operation clears the note.
    func worked(_ request: Request) {
        if request == .operation { sentences = [:] } else { sentences[request] = nil }
    }

    /// It did not; only a fault with a message of its own becomes a note.
    func failed(_ fault: SensorFault, _ request: Request) {
        guard let sentence = fault.sentence else { return }
        // A list that can't be read may be requested many times a second.
        if request == .operation || sentences[request] != sentence { tell(sentence) }
        sentences[request] = sentence
    }
}

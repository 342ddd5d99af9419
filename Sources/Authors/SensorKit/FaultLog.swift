import DBus

/// A sensor's faults, kept for the log and for Health.
///
/// The daemon shows a fault to the user only once, but an administrator needs it later.
@BusActor final class FaultLog {
    enum Request: Hashable {
        /// Verify, Enroll, and changes to templates.
        case operation
        /// The list of templates, which the daemon requests often.
        case list
    }

    private var sentences: [Request: String] = [:]
    private let tell: @BusActor (String) -> Void

    /// Passes every new message to `tell` as well.
    init(_ tell: @escaping @BusActor (String) -> Void) {
        self.tell = tell
    }

    /// The last message, cleared by the next successful operation.
    var last: String? { sentences[.operation] ?? sentences[.list] }

    /// Clears the request's note; a successful operation clears all notes.
    func worked(_ request: Request) {
        if request == .operation { sentences = [:] } else { sentences[request] = nil }
    }

    /// Records a fault as a note if it has a message of its own.
    func failed(_ fault: SensorFault, _ request: Request) {
        guard let sentence = fault.sentence else { return }
        // The daemon may request an unreadable list many times a second.
        if request == .operation || sentences[request] != sentence { tell(sentence) }
        sentences[request] = sentence
    }
}

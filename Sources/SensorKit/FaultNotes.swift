import DBus

/// What a sensor could not do, for whoever looks after the machine.
///
/// The daemon tells people sentences of its own, so that what a sensor says of itself is read in
/// the log and in Health, or nowhere.
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

    /// Every sentence goes to `tell` as well.
    init(_ tell: @escaping @BusActor (String) -> Void) {
        self.tell = tell
    }

    /// The last sentence, until something works again.
    var last: String? { sentences[.operation] ?? sentences[.list] }

    /// It did what it was asked; an operation that works says that all is well.
    func worked(_ request: Request) {
        if request == .operation { sentences = [:] } else { sentences[request] = nil }
    }

    /// It did not; only a fault with a sentence of its own is a note.
    func failed(_ fault: SensorFault, _ request: Request) {
        guard let sentence = fault.sentence else { return }
        // A list that can't be had may be asked for many times a second.
        if request == .operation || sentences[request] != sentence { tell(sentence) }
        sentences[request] = sentence
    }
}

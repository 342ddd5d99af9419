import DBus

enum ServiceAbsence: Hashable, Sendable {
    case notInstalled
    /// The owner of the name is not trusted, for the reason given by the service's user.
    case untrusted(String)
    /// The start takes longer than callers wait.
    case starting
    case notStarting(reason: String)
    /// After repeated failures, the back-off is longer than callers wait.
    case resting
    case crashed
    /// The helper does not answer, or its answers are invalid.
    case failed
    /// The helper supports no common protocol version.
    case incompatible
}

@BusActor
protocol SupervisedServiceUser: AnyObject {
    /// Returns why a process of this uid, or for nil any process, must not be the helper; nil if it
    /// may.
    func distrust(of uid: UInt32?) -> String?
    /// Called when another process owns the name, which voids answers of the former owner.
    func ownerArrived()
    /// Called when the owner gave up its name, before the cause is known.
    func ownerLeft()
    /// Prepares a trusted owner; nil if it can be called, else the cause.
    func prepare(_ peer: Peer) async -> ServiceAbsence?
    /// Called before the state changes to broken; `fault` describes the helper's mistake for
    /// people.
    func lost(_ absence: ServiceAbsence, because fault: String?)
    /// Queries whether an owner that failed works again.
    func hasRecovered() async -> Bool
    func stateChanged()
}

extension SupervisedServiceUser {
    func ownerLeft() {}
    func lost(_ absence: ServiceAbsence, because fault: String?) {}
    func hasRecovered() async -> Bool { true }
    func stateChanged() {}
}

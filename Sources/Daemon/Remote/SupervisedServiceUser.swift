import DBus

/// Why a helper process can't be called.
enum ServiceAbsence: Hashable, Sendable {
    /// The helper's name has no owner, and the bus can't start the helper.
    case notInstalled
    /// The owner of its name may not be the helper, in the words of the service's user.
    case untrusted(String)
    /// The start takes longer than callers wait.
    case starting
    /// The start failed.
    case notStarting(reason: String)
    /// After repeated failures, the back-off is longer than callers wait.
    case resting
    /// The helper ended by a fault.
    case crashed
    /// The helper does not answer, or answers nonsense.
    case failed
    /// The helper speaks no common version.
    case incompatible
}

/// The user of a supervised helper.
@BusActor
protocol SupervisedServiceUser: AnyObject {
    /// Returns why a process of this uid, or any process, may not be the helper; nil: it may.
    func distrust(of uid: UInt32?) -> String?
    /// Another process has the name: answers of the former owner are void.
    func ownerArrived()
    /// The owner gave up its name. The cause of the end is unknown yet.
    func ownerLeft()
    /// Prepares a trusted owner; nil: calls can be made, otherwise the cause.
    func prepare(_ peer: Peer) async -> ServiceAbsence?
    /// The helper can't be called, for this cause; `fault` is its mistake, for people. The state
    /// changes afterwards.
    func lost(_ absence: ServiceAbsence, because fault: String?)
    /// Asks an owner that failed whether it works again.
    func hasRecovered() async -> Bool
    /// The service has another state.
    func stateChanged()
}

extension SupervisedServiceUser {
    func ownerLeft() {}
    func lost(_ absence: ServiceAbsence, because fault: String?) {}
    func hasRecovered() async -> Bool { true }
    func stateChanged() {}
}

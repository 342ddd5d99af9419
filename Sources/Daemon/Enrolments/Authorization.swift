import AuthEngine
import AuthStore
import DBus
import LocalAuthBus

/// The passcode that comes before templates change, or polkit's word for those of other users.
@BusActor
final class Authorization {
    /// How long a passcode given earlier counts.
    static let freshness = Duration.seconds(60)

    let options: DeviceOptions
    /// No client sees this context; it is there to end the prompt.
    private let context: ContextID
    private var isOver = false
    private var withdraw: (@BusActor () -> Void)?
    private let action: Administration.Action
    private let administration: Administration
    private let evaluations: Evaluations

    init(
        _ action: Administration.Action,
        options: DeviceOptions,
        administration: Administration,
        evaluations: Evaluations
    ) {
        self.action = action
        self.options = options
        self.administration = administration
        self.evaluations = evaluations
        context = ContextID(evaluations.nextID())
    }

    /// Returns when a passcode was given within the last minute; asks for one if it must.
    ///
    /// Root needs none.
    ///
    /// - Throws: UnknownObject for another's context, and how the prompt ended.
    func ask(_ reason: String, _ audience: Audience) async throws(DBusError) {
        let peer = audience.peer
        guard !isOver else { throw DBusError(.appCancel, "The call was canceled.") }
        guard peer.uid != 0 else { return }
        if options.isForOther { return try await admit(peer) }
        let client = evaluations.clients[peer]
        if let path = options.context {
            let lent = try client.context(at: path)
            // A lock that was missed ends what the context has.
            if await evaluations.facts.revalidate(peer.uid).isPlaceKnown,
                Self.isFresh(lent.id, peer.uid, evaluations.engine, at: Instant.now())
            {
                return
            }
        }
        // Policy 2 without any sensor: the passcode, at once.
        var request = Request(
            id: EvaluationID(evaluations.nextID()),
            client: client.id,
            context: context,
            uid: peer.uid,
            policy: .biometricsOrPasscode
        )
        request.sensors = []
        request.timeout = options.timeout
        let text = ShownText(
            reason: reason,
            parentWindow: options.parentWindow,
            activationToken: options.activationToken
        )
        let outcome = await evaluations.outcome(
            of: request,
            text,
            audience,
            isReleased: { isOver }
        )
        evaluations.handle(.released(context))
        if case .refused(let refusal) = outcome { throw DBusError(refusal) }
    }

    /// Whether a passcode was given in the context within the last minute.
    static func isFresh(
        _ context: ContextID,
        _ uid: UInt32,
        _ engine: AuthEngine,
        at moment: Instant
    ) -> Bool {
        engine.passcodeAge(of: context, uid: uid, at: moment).map { $0 <= freshness } ?? false
    }

    /// Returns when the caller may do this to the user it names; at once where that is itself, or
    /// it is root.
    ///
    /// - Throws: AccessDenied, LimitsExceeded.
    func admit(_ peer: Peer) async throws(DBusError) {
        guard options.isForOther else { return }
        try await administration.check(action, of: peer, within: options.timeout) {
            self.withdraw = $0
        }
        withdraw = nil
        guard !isOver else { throw DBusError(.appCancel, "The call was canceled.") }
    }

    /// Takes the prompt down; the answer is then AppCancel.
    func end() {
        isOver = true
        withdraw?()
        evaluations.handle(.released(context))
    }
}

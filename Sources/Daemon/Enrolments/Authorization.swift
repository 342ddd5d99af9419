import AuthEngine
import AuthStore
import DBus
import LocalAuthBus

/// Authorizes a change of templates: by a password for the caller's own templates, by polkit for
/// those of another user.
@BusActor
final class Authorization {
    /// How long an earlier password counts.
    static let freshness = Duration.seconds(60)

    let options: DeviceOptions
    /// A private context, which serves to end the prompt.
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

    /// Returns if the user gave a password within the last minute, and prompts if needed.
    ///
    /// Root needs no password.
    ///
    /// - Throws: UnknownObject for a context of another connection, or the refusal of the prompt.
    func ask(_ reason: String, _ audience: Audience) async throws(DBusError) {
        let peer = audience.peer
        guard !isOver else { throw DBusError(.appCancel, "The call was canceled.") }
        guard peer.uid != 0 else { return }
        if options.isForOther { return try await admit(peer) }
        let client = evaluations.clients[peer]
        if let path = options.context {
            let lent = try client.context(at: path)
            // Revalidate first, because a missed lock ends the context's success.
            if await evaluations.facts.revalidate(peer.uid).hasMissedNoLock,
                Self.isFresh(lent.id, peer.uid, evaluations.engine, at: Instant.now())
            {
                return
            }
        }
        // Policy 2 without any sensor prompts for the password at once.
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

    /// Returns whether the context got a password within the last minute.
    static func isFresh(
        _ context: ContextID,
        _ uid: UInt32,
        _ engine: AuthEngine,
        at moment: Instant
    ) -> Bool {
        engine.passcodeAge(of: context, uid: uid, at: moment).map { $0 <= freshness } ?? false
    }

    /// Returns if the caller may act for the given user.
    ///
    /// Polkit decides, unless the caller acts for itself or is root.
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

    /// Closes the prompt, so that `ask` throws AppCancel.
    func end() {
        isOver = true
        withdraw?()
        evaluations.handle(.released(context))
    }
}

import AuthEngine
import AuthStore
import Contract
import DBus
import LocalAuthBus
import ServiceProgram

/// `/org/localauth/Authentication1`: the methods for every caller.
///
/// Checks the arguments of a call and passes it to the responsible part of the service.
@BusActor
final class AuthenticationObject: Authentication1Service {
    private let service: AuthService
    private var evaluations: Evaluations { service.evaluations }
    /// The mistake due to which the service refuses every evaluation, because it has no settings
    /// (L29).
    private var refusingMistake: ConfigurationMistake? {
        service.mistake.flatMap { $0.isRefusing ? $0 : nil }
    }

    init(service: AuthService) {
        self.service = service
    }

    // MARK: - Evaluations

    func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)> {
        let policy = try Checked.policy(policy)
        if let mistake = refusingMistake {
            return .now((false, RefusalCode.systemCancel.rawValue, mistake.message))
        }
        return service.evaluations.canEvaluate(policy, for: call.peer)
    }

    func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> {
        service.clients.unknownOptions.take(options, of: call)
        let reason = try Checked.reason(reason)
        let policy = try Checked.policy(policy)
        let options = try EvaluateOptions(options)
        if options.uid != nil, call.peer.uid != 0 {
            throw .denied("option uid is for root")
        }
        let peer = call.peer
        var request = Request(
            id: EvaluationID(evaluations.nextID()),
            client: service.clients[peer].id,
            uid: options.uid ?? peer.uid,
            policy: policy
        )
        request.isUnlock = options.uid != nil
        request.isForLockScreen = options.isForLockScreen ?? request.isUnlock
        guard policy == .biometrics || request.isUnlock || !request.isForLockScreen else {
            throw .invalid("a lock screen evaluates policy 1")
        }
        request.apply(options)
        let asked = request
        let text = ShownText(reason: reason, options: options)
        let audience = Audience(peer: peer, source: .oneShot(serial: call.serial))
        return .later { [evaluations] () throws(DBusError) in
            switch await evaluations.outcome(of: asked, text, audience) {
            case .granted(let grant): evaluations.result(of: grant)
            case .refused(let refusal): throw DBusError(refusal)
            }
        }
    }

    func canInteract(
        call: IncomingCall
    ) throws(DBusError) -> Answer<
        (available: Bool, cause: String, message: String, remedy: String)
    > {
        if let mistake = refusingMistake {
            return .now((false, "mistake", mistake.message, ConfigurationMistake.remedy.text))
        }
        let peer = call.peer
        return .later { [evaluations] () throws(DBusError) in
            let facts = await evaluations.facts.findPlace(of: peer)
            switch evaluations.engine.prompter(for: peer.uid, facts) {
            case .success: return (true, "", "", "")
            case .failure(let absence):
                let remedy = Diagnosis.remedy(
                    for: absence,
                    isDesktop: evaluations.facts.sessions.isDesktop(facts.session)
                )
                return (false, absence.rawValue, absence.refusal.message, remedy.text)
            }
        }
    }

    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        evaluations.handle(.oneShotsInvalidated(service.clients[call.peer].id))
        return .now(())
    }

    func createContext(
        properties: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<ObjectPath> {
        service.clients.unknownOptions.take(properties, of: call)
        let client = service.clients[call.peer]
        let limits = service.configuration
        guard client.contexts.count < limits.contextsPerConnection else {
            throw .exceeded("a connection has at most \(limits.contextsPerConnection) contexts")
        }
        guard service.clients.contextCount(of: client.peer.uid) < limits.contextsPerUser else {
            throw .exceeded("a user has at most \(limits.contextsPerUser) contexts")
        }
        let context = try ContextObject(
            client: client,
            properties: properties,
            connection: service.connection,
            evaluations: evaluations,
            sensors: service.sensors
        )
        context.export()
        return .now(context.path)
    }

    // MARK: - Agents

    func registerAgent(
        agent: ObjectPath,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        service.clients.unknownOptions.take(options, of: call)
        return try service.agents.register(call.peer, path: agent, options: options)
    }

    func unregisterAgent(agent: ObjectPath, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        .now(try service.agents.unregister(call.peer, path: agent))
    }

    func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        evaluations.handle(.canceled(try evaluations.evaluation(shownIn: prompt, by: call.peer)))
        return .now(())
    }

    func submitFallback(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        let id = try evaluations.evaluation(shownIn: prompt, by: call.peer)
        guard evaluations.engine.offersFallback(id) else {
            throw .invalid("this prompt offers no fallback now")
        }
        evaluations.handle(.fellBack(id))
        return .now(())
    }

    func submitConfirm(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        let id = try evaluations.evaluation(shownIn: prompt, by: call.peer)
        guard evaluations.engine.awaitsConfirmation(id) else {
            throw .invalid("this prompt has nothing to confirm")
        }
        evaluations.confirmed(id)
        return .now(())
    }

    func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        .now(try evaluations.submit(passcode: sealed, to: prompt, by: call.peer))
    }

    func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        service.clients.unknownOptions.take(options, of: call)
        let isSealed = try OptionReader(options).value("sealed", \.asBool) ?? false
        return .now(
            try evaluations.submit(
                password: password,
                isSealed: isSealed,
                to: prompt,
                of: call
            )
        )
    }

    // MARK: - Password requirements and unlocks

    func requirePasscode(
        uid: UInt32,
        cause: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        guard uid != UInt32.max else { throw .denied("there is no user \(uid)") }
        guard cause.utf8.count <= 1024 else { throw .invalid("the cause is over 1024 bytes") }
        let peer = call.peer
        let text = DisplayText.cleaned(cause, limit: DisplayText.causeLimit)
        let remote = Event.passcodeRequired(uid: uid, cause: .remote(text))
        if peer.uid == 0 {
            evaluations.handle(remote, askedBy: peer)
            return durable(uid)
        }
        guard !service.clients[peer].sandbox.isSandboxed else {
            throw .denied("a sandboxed program can't require a password")
        }
        guard uid == peer.uid else {
            return .later { [self] () throws(DBusError) in
                let patience = DeviceOptions.patience
                try await service.administration.check(.requirePasscode, of: peer, within: patience)
                evaluations.handle(remote, askedBy: peer)
                try await finish(uid)
            }
        }
        // No program may put text into another program's prompt (L34).
        let own = Event.passcodeRequired(uid: uid, cause: PasscodeCause(.program))
        evaluations.handle(own, askedBy: peer)
        return durable(uid)
    }

    func reportUnlock(
        uid: UInt32,
        method: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        guard call.peer.uid == 0 else { throw .denied("only root can report an unlock") }
        guard uid != UInt32.max else { throw .invalid("there is no user \(uid)") }
        let isPasscode: Bool
        switch Mechanism(rawValue: method) {
        case .passcode: isPasscode = true
        case .biometry: isPasscode = false
        default: throw .invalid("the method is neither biometry nor passcode")
        }
        evaluations.handle(.unlocked(uid: uid, byPasscode: isPasscode), askedBy: call.peer)
        return durable(uid)
    }

    /// Replies after the user's record is on the disk (L17).
    private func durable(_ uid: UInt32) -> Answer<Void> {
        .later { [self] () throws(DBusError) in try await finish(uid) }
    }

    /// Waits until a user's record is on the disk.
    ///
    /// - Throws: Failed if it can't be written.
    private func finish(_ uid: UInt32) async throws(DBusError) {
        await service.saves.finish()
        guard evaluations.engine.isWritten(uid) else {
            throw DBusError(.failed, "The state can't be written: try again.")
        }
    }

    func monitor(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        service.clients.unknownOptions.take(options, of: call)
        return .now(try service.monitors.add(call.peer))
    }

    func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]> {
        let peer = call.peer
        return .later { [service] () throws(DBusError) in
            await service.diagnosis(for: peer).checks.map(\.wire)
        }
    }

    // MARK: - Properties

    /// Returns the work to do before a property is read.
    ///
    /// `Interactive` waits for the caller's session, as CanEvaluate does. Properties of sensors
    /// wait until every sensor has described itself (L11b).
    func preparation(
        for property: String?,
        of peer: Peer
    ) -> (@BusActor @Sendable () async -> Void)? {
        let (isAll, sessions) = (property == nil, service.sessions)
        let isAboutSensors = ["BiometryType", "BiometryTypes"].contains(property)
        let answers = isAll || isAboutSensors ? service.sensors.answers : nil
        guard isAll || property == "Interactive", sessions.cachedPlace(of: peer) == nil else {
            return answers
        }
        return {
            let place = onLoop { _ = await sessions.place(of: peer, for: peer.uid) }
            await answers?()
            await place.value
        }
    }

    func version(for peer: Peer?) throws(DBusError) -> String { ServiceProgram.version }

    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 {
        refreshInBackground(peer)
        return service.sensors.types.first?.rawValue ?? 0
    }

    /// Queries the sensors in the background, because their announcements may be lost (L11b).
    private func refreshInBackground(_ peer: Peer?) {
        guard let peer else { return }
        evaluations.facts.enrolments.refreshInBackground(
            peer.uid,
            at: Instant.now(),
            isWaking: false
        )
    }

    func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32] {
        refreshInBackground(peer)
        return service.sensors.types.map(\.rawValue).sorted()
    }

    func interactive(for peer: Peer?) throws(DBusError) -> Bool {
        guard refusingMistake == nil, let peer,
            let facts = evaluations.facts.knownPlace(of: peer)
        else { return false }
        if case .success = evaluations.engine.prompter(for: peer.uid, facts) { return true }
        return false
    }
}

extension Request {
    mutating func apply(_ options: EvaluateOptions) {
        timeout = options.timeout
        offersFallback = options.fallbackTitle.map { !$0.isEmpty } ?? true
        isInteractionNotAllowed = options.isInteractionNotAllowed ?? false
        sensors = options.sensors
        minimumStrength = options.minimumStrength
        requiresConfirmation = options.requiresConfirmation
        // The engine clamps longer durations (R34). This bound only keeps a huge Double from
        // overflowing Duration.
        reuseDuration = .seconds(min(options.reuseDuration ?? 0, 3600))
    }
}

extension ShownText {
    init(reason: String, options: EvaluateOptions) {
        self.init(
            reason: reason,
            fallbackTitle: options.fallbackTitle,
            cancelTitle: options.cancelTitle,
            parentWindow: options.parentWindow,
            activationToken: options.activationToken
        )
    }
}

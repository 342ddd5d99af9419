import AuthEngine
import AuthStore
import BusGuard
import Contract
import DBus
import KeychainStore
import Linux
import LocalAuthBus
import Sealing

/// A context, which only its creator sees, and which ends when its creator leaves.
@BusActor
final class ContextObject: Context1Service {
    struct Properties: Equatable {
        /// The size of the texts in bytes.
        var size: Int {
            (fallbackTitle?.utf8.count ?? 0) + cancelTitle.utf8.count + reason.utf8.count
        }

        /// Nil if never set, so that the prompt shows its default title.
        var fallbackTitle: String?
        var cancelTitle = ""
        var reason = ""
        var isInteractionNotAllowed = false
        var reuseDuration = 0.0
        var maxBiometryFailures: UInt32 = 0
        /// In seconds.
        var successDuration = 600.0
    }

    let id: ContextID
    let path: ObjectPath
    /// Whether `evaluatedDomainState` comes from CanEvaluate, and a sensor has slept since its
    /// list.
    private var statePredatesSleep = false
    var evaluatedDomainState: [UInt8] = [] {
        didSet {
            statePredatesSleep = false
            if evaluatedDomainState != oldValue { announce("EvaluatedPolicyDomainState") }
        }
    }
    private var properties = Properties()
    private var credentials: [CredentialKind: SecretBytes] = [:]
    /// The application password that a person typed last.
    private weak var typed: SecretBytes?
    /// The bytes that the quota counts for the user because of this context.
    private var held = 0
    private(set) var isInvalid = false
    /// A strong reference, because calls may wait after the client left; `remove()` breaks the
    /// cycle.
    let client: Client
    let evaluations: Evaluations
    private let connection: Connection
    private let sensors: SensorDirectory

    /// - Throws: InvalidArgs for a property of a wrong type; LimitsExceeded.
    init(
        client: Client,
        properties: [String: Variant],
        connection: Connection,
        evaluations: Evaluations,
        sensors: SensorDirectory
    ) throws(DBusError) {
        id = ContextID(evaluations.nextID())
        path = ObjectPath(
            unchecked: Authentication1.path.rawValue + "/context/" + Handle.random()
        )
        self.client = client
        self.connection = connection
        self.evaluations = evaluations
        self.sensors = sensors
        try take(properties)
    }

    func export() {
        client.contexts[id] = self
        connection.export(path, [Context1Interface(self)], visibleTo: client.peer) {
            [weak self] property, _ in self?.preparation(for: property)
        }
    }

    /// Removes the object after the engine has handled the release.
    func remove() {
        client.contexts[id] = nil
        connection.unexport(path)
        evaluations.neighbours.quota.release(held, of: client.peer.uid)
        held = 0
    }

    /// Counts the content against the user's quota before the context stores it.
    private func count(
        _ properties: Properties,
        _ credentials: [CredentialKind: SecretBytes]
    )
        throws(DBusError)
    {
        let size = properties.size + credentials.values.reduce(0) { $0 + $1.count }
        try evaluations.neighbours.quota.hold(size, insteadOf: held, of: client.peer.uid)
        held = size
    }

    private func take(_ values: [String: Variant]) throws(DBusError) {
        let reader = OptionReader(values)
        var new = properties
        new.fallbackTitle = try reader.title("LocalizedFallbackTitle")
        new.cancelTitle = try reader.title("LocalizedCancelTitle") ?? ""
        if let reason = try reader.value("LocalizedReason", \.asString) {
            new.reason = try Self.bounded(reason)
        }
        new.isInteractionNotAllowed =
            try reader.value("InteractionNotAllowed", \.asBool) ?? false
        if let duration = try reader.value("ReuseDuration", \.asDouble) {
            try EvaluateOptions.check(duration: duration, of: "ReuseDuration")
            new.reuseDuration = duration
        }
        new.maxBiometryFailures = try reader.value("MaxBiometryFailures", \.asUInt32) ?? 0
        if let duration = try reader.value("SuccessDuration", \.asDouble) {
            try EvaluateOptions.check(duration: duration, of: "SuccessDuration")
            new.successDuration = duration
        }
        try count(new, credentials)
        properties = new
        if new.successDuration != Properties().successDuration { tellSuccessDuration() }
    }

    /// Sends the duration to the engine, bounded so that a huge Double can't overflow Duration.
    private func tellSuccessDuration() {
        let lifetime = Duration.seconds(min(properties.successDuration, 86_400))
        evaluations.handle(.successesLast(lifetime, id, client.id))
    }

    private static func bounded(_ text: String) throws(DBusError) -> String {
        guard text.utf8.count <= Checked.longestReason else {
            throw .invalid("the text is over 64 KiB")
        }
        return text
    }

    // MARK: - Evaluations

    func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)> {
        let policy = try Checked.policy(policy)
        guard !isInvalid else { return .now((false, -10, Self.invalidated)) }
        return evaluations.canEvaluate(policy, for: client.peer, context: self)
    }

    func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> {
        evaluations.clients.unknownOptions.take(options, of: call)
        let reason = try Checked.reason(reason)
        let policy = try Checked.policy(policy)
        var options = try EvaluateOptions(options)
        guard options.uid == nil else { throw .denied("option uid is for one-shot evaluations") }
        complete(&options)
        var request = Request(
            id: EvaluationID(evaluations.nextID()),
            client: client.id,
            context: id,
            uid: client.peer.uid,
            policy: policy
        )
        request.apply(options)
        evaluatedDomainState = []
        let (frozen, audience) = (request, audience)
        let text = ShownText(reason: reason, options: options)
        return .later { [self] () throws(DBusError) in
            let outcome = await evaluations.outcome(
                of: frozen,
                text,
                audience,
                isReleased: { isReleased }
            )
            switch outcome {
            case .granted(let grant):
                let result = evaluations.result(of: grant)
                evaluatedDomainState = result["domain-state"]?.asBytes ?? []
                return result
            case .refused(let refusal): throw DBusError(refusal)
            }
        }
    }

    /// The receiver of progress of this context's evaluations.
    var audience: Audience { Audience(peer: client.peer, source: .context(path)) }

    /// Fills options that the call omits from the properties.
    func complete(_ options: inout EvaluateOptions) {
        options.fallbackTitle = options.fallbackTitle ?? properties.fallbackTitle
        options.cancelTitle = options.cancelTitle ?? properties.cancelTitle
        options.isInteractionNotAllowed =
            options.isInteractionNotAllowed ?? properties.isInteractionNotAllowed
        options.reuseDuration = options.reuseDuration ?? properties.reuseDuration
    }

    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        guard !isInvalid else { return .now(()) }
        isInvalid = true
        properties = Properties()
        credentials = [:]
        // This can't exceed the quota, because the content shrinks.
        try count(properties, credentials)
        evaluatedDomainState = []
        tell(Context1Interface.description.properties.map(\.name))
        evaluations.handle(.invalidated(id))
        return .now(())
    }

    func release(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        evaluations.handle(.released(id))
        remove()
        return .now(())
    }

    static let invalidated = "The context was invalidated."

    /// Whether the context was released while a call waited.
    var isReleased: Bool { client.contexts[id] !== self }

    /// Whether the context was invalidated or released, so that its quota was returned.
    private var isOver: Bool { isInvalid || isReleased }

    // MARK: - Credentials

    /// The app's own password, set by the app or typed by a person.
    var applicationPassword: SecretBytes? { credentials[.applicationPassword] }

    /// Whether an item may open on this context without a prompt.
    var mayProve: Bool { evaluations.engine.hasSuccess(id) || applicationPassword != nil }

    /// Keeps a password that a person typed, as if the app had set it (R37).
    func keep(applicationPassword: SecretBytes) {
        guard !isOver else { return }
        guard (try? set(applicationPassword, as: .applicationPassword)) != nil else { return }
        typed = applicationPassword
    }

    /// Forgets a typed password that opened no item, so that the next call asks for it again.
    func forget(typed password: SecretBytes) {
        guard !isOver, typed === password, applicationPassword === password else { return }
        try? set(nil, as: .applicationPassword)
        typed = nil
    }

    private func set(_ credential: SecretBytes?, as kind: CredentialKind) throws(DBusError) {
        var new = credentials
        new[kind] = credential
        try count(properties, new)
        credentials = new
    }

    /// The reason that the app set; empty if it set none.
    var reason: String { properties.reason }

    func setCredential(
        credentialType: Int32,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        evaluations.clients.unknownOptions.take(options, of: call)
        let kind = try CredentialKind(credentialType)
        let credential = try GivenSecret.take(
            secret,
            isSealed: try OptionReader(options).value("sealed", \.asBool) ?? false,
            with: evaluations.sealingKey,
            from: call,
            refusal: .invalidArgs
        )
        guard !isInvalid else { return .now(false) }
        try set(credential, as: kind)
        return .now(true)
    }

    func clearCredential(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        let kind = try CredentialKind(credentialType)
        guard !isInvalid else { return .now(false) }
        try set(nil, as: kind)
        return .now(true)
    }

    func isCredentialSet(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        .now(credentials[try CredentialKind(credentialType)] != nil)
    }

    // MARK: - Properties

    func localizedFallbackTitle(for peer: Peer?) throws(DBusError) -> String {
        properties.fallbackTitle ?? ""
    }

    func setLocalizedFallbackTitle(_ value: String, by peer: Peer) throws(DBusError) {
        let title = DisplayText.cleaned(value, limit: DisplayText.titleLimit)
        try set(\.fallbackTitle, to: title, as: "LocalizedFallbackTitle")
    }

    func localizedCancelTitle(for peer: Peer?) throws(DBusError) -> String {
        properties.cancelTitle
    }

    func setLocalizedCancelTitle(_ value: String, by peer: Peer) throws(DBusError) {
        let title = DisplayText.cleaned(value, limit: DisplayText.titleLimit)
        try set(\.cancelTitle, to: title, as: "LocalizedCancelTitle")
    }

    func localizedReason(for peer: Peer?) throws(DBusError) -> String { properties.reason }

    func setLocalizedReason(_ value: String, by peer: Peer) throws(DBusError) {
        try set(\.reason, to: Self.bounded(value), as: "LocalizedReason")
    }

    func interactionNotAllowed(for peer: Peer?) throws(DBusError) -> Bool {
        properties.isInteractionNotAllowed
    }

    func setInteractionNotAllowed(_ value: Bool, by peer: Peer) throws(DBusError) {
        try set(\.isInteractionNotAllowed, to: value, as: "InteractionNotAllowed")
    }

    func reuseDuration(for peer: Peer?) throws(DBusError) -> Double { properties.reuseDuration }

    func setReuseDuration(_ value: Double, by peer: Peer) throws(DBusError) {
        try EvaluateOptions.check(duration: value, of: "ReuseDuration")
        try set(\.reuseDuration, to: value, as: "ReuseDuration")
    }

    func maxBiometryFailures(for peer: Peer?) throws(DBusError) -> UInt32 {
        properties.maxBiometryFailures
    }

    func setMaxBiometryFailures(_ value: UInt32, by peer: Peer) throws(DBusError) {
        try set(\.maxBiometryFailures, to: value, as: "MaxBiometryFailures")
    }

    func successDuration(for peer: Peer?) throws(DBusError) -> Double {
        properties.successDuration
    }

    func setSuccessDuration(_ value: Double, by peer: Peer) throws(DBusError) {
        try EvaluateOptions.check(duration: value, of: "SuccessDuration")
        try set(\.successDuration, to: value, as: "SuccessDuration")
        if !isInvalid { tellSuccessDuration() }
    }

    /// Sets a property, unless the context is invalidated and so keeps its defaults.
    private func set<Value: Equatable>(
        _ property: WritableKeyPath<Properties, Value>,
        to value: Value,
        as name: String
    ) throws(DBusError) {
        guard !isInvalid, properties[keyPath: property] != value else { return }
        var new = properties
        new[keyPath: property] = value
        try count(new, credentials)
        properties = new
        announce(name)
    }

    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 {
        guard !isInvalid else { return 0 }
        if let peer {
            let now = Instant.now()
            evaluations.facts.enrolments.refreshInBackground(peer.uid, at: now, isWaking: false)
        }
        return sensors.types.first?.rawValue ?? 0
    }

    func evaluatedPolicyDomainState(for peer: Peer?) throws(DBusError) -> [UInt8] {
        evaluatedDomainState
    }

    /// Stores the domain state that CanEvaluate found, possibly from before a sensor fell asleep.
    func couldEvaluate(_ state: [UInt8], predatesSleep: Bool) {
        evaluatedDomainState = state
        statePredatesSleep = predatesSleep && !state.isEmpty
    }

    private func renewState() {
        guard statePredatesSleep else { return }
        couldEvaluate(
            evaluations.facts.enrolments.domainState(of: client.peer.uid),
            predatesSleep: false
        )
    }

    /// Returns the work to do before a property is read.
    ///
    /// A domain state waits until the sensors have listed the templates (L11b), and until sensors
    /// that slept have reported changes (L12). Reading it also queries the sensors in the
    /// background.
    private func preparation(for property: String?) -> (@BusActor @Sendable () async -> Void)? {
        if property == "BiometryType" { return sensors.answers }
        let isRead =
            property == nil || property == "DomainState"
            || (property == "EvaluatedPolicyDomainState" && statePredatesSleep)
        guard isRead, !isInvalid else { return nil }
        let (uid, enrolments) = (client.peer.uid, evaluations.facts.enrolments)
        if statePredatesSleep || enrolments.predatesSleep(of: uid) {
            return {
                await enrolments.refresh(uid)
                self.renewState()
            }
        }
        guard enrolments.isCached(of: uid, at: Instant.now()) else {
            return { await enrolments.waitUntilCached(uid) }
        }
        enrolments.refreshInBackground(uid, at: Instant.now())
        return nil
    }

    func domainState(for peer: Peer?) throws(DBusError) -> [String: Variant] {
        guard !isInvalid else { return ["biometry": .bytes([]), "combined": .bytes([])] }
        let (uid, enrolments) = (client.peer.uid, evaluations.facts.enrolments)
        return [
            "biometry": .bytes(enrolments.domainState(of: uid)),
            "combined": .bytes(enrolments.domainState(of: uid, withCompanions: true)),
        ]
    }

    func announce(_ property: String) {
        guard !isInvalid else { return }
        tell([property])
    }

    private func tell(_ properties: [String]) {
        guard !client.peer.hasLeft else { return }
        connection.propertiesChanged(
            path,
            Context1Interface(self),
            properties,
            to: client.peer.name
        )
    }
}

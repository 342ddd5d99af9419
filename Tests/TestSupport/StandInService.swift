package import BusBench
package import DBus
import Glibc
import LocalAuthBus
import Sealing
import SensorContract

/// An action of an agent or a client on the stand-in.
package enum ClientAction: Hashable, Sendable {
    case registered(process: UInt32?, isFallback: Bool)
    case unregistered
    case canceled
    case fellBack
    case confirmed
    /// An unsealed login password.
    case passcode([UInt8])
    /// An unsealed item password.
    case password([UInt8])
    /// A secret that is sealed to another key or prompt.
    case unopened
    case invalidated
    case locked(uid: UInt32, cause: String)
    case monitored
}

/// Imitates the service: gives scripted answers and records calls.
@BusActor package final class StandInService {
    /// The only correct password.
    package nonisolated static let passcode = "correct horse"

    /// Answers an evaluation of a caller with these options.
    package typealias Evaluation =
        @BusActor @Sendable (
            _ caller: String, _ options: [String: Variant]
        ) async throws(DBusError) -> [String: Variant]

    package let connection: Connection
    package var isInteractive = false
    /// The cause why no prompt can be shown, if `isInteractive` is false.
    package var absence = (cause: "no-agent", message: "Nobody asks.", remedy: "localauthctl agent")
    /// The error that `RegisterAgent` returns; nil to accept.
    package var registrationError: DBusError?
    /// The refusal that `CanEvaluate` returns; nil for yes.
    package var refusal: (code: Int32, message: String)?
    /// Whether the service has silently forgotten all prompts.
    package var isForgetful = false
    /// The number of calls of `RegisterAgent` or `Diagnose` that find no room.
    package var refusals = 0
    package var checks: [[String: Variant]] = []
    /// The result of `CreateContext`; nil for an error.
    package var context: ObjectPath?
    package private(set) var options: [String: Variant] = [:]
    /// Replaces the evaluation that asks for the password.
    package var evaluation: Evaluation?
    /// The methods of reported unlocks.
    package let reports = EventRecorder<String>()
    /// The stage in which prompts begin.
    package var stage = "passcode"
    /// The error of SubmitPasscode and SubmitPassword; nil for success.
    package var submitError: DBusError?

    private let happenings: AsyncStream<ClientAction>
    private let remember: AsyncStream<ClientAction>.Continuation
    private var agents: [(peer: Peer, path: ObjectPath)] = []
    private var passcodeKey = SealingKey()
    private let passwordKey = SealingKey()
    private var prompts = 0
    private var monitors: [String] = []

    package init(_ bus: PrivateBus) throws {
        connection = try bus.connect()
        (happenings, remember) = AsyncStream.makeStream()
        connection.serveObjectManager(at: TestDaemon.root)
        connection.export(TestDaemon.root, [Authentication1Interface(self)])
        connection.export(Keychain1.path, [PublishedKey(passwordKey.publicKey)])
        try connection.requestName(TestDaemon.name)
    }

    package func leave() { connection.close() }

    /// Simulates a restart of the verifier with a new key, and returns the key in the form that
    /// prompts receive.
    package func renewPasscodeKey() -> Variant {
        passcodeKey = SealingKey()
        return .bytes(passcodeKey.publicKey)
    }

    /// Sends the record of an evaluation to all monitors.
    package func tellEvaluated(_ record: [String: Variant]) {
        let signals = Authentication1Signals(connection, path: TestDaemon.root)
        for monitor in monitors { signals.evaluated(record: record, to: monitor) }
    }

    /// Waits for the next action, in order.
    package func next() async -> ClientAction? {
        for await happening in happenings { return happening }
        return nil
    }

    package func nextAnswer() async -> ClientAction? {
        for await happening in happenings {
            switch happening {
            case .registered, .unregistered, .locked, .monitored: continue
            default: return happening
            }
        }
        return nil
    }

    /// Begins a prompt at the last registered agent.
    ///
    /// - Returns: The prompt's handle.
    package func begin(_ details: [String: Variant]) async throws -> String {
        guard let agent = agents.last(where: { !$0.peer.hasLeft }) else {
            throw DBusError("org.localauth.Error.NotInteractive", "Nobody can ask.")
        }
        prompts += 1
        let handle = "prompt\(prompts)"
        let key = ["passcode-key": Variant.bytes(passcodeKey.publicKey)]
        try await proxy(agent)
            .begin(prompt: handle, details: details.merging(key) { own, _ in own })
        return handle
    }

    package func askPassword(_ handle: String) async throws {
        try await update(handle, "application-password-required")
    }

    /// Reports progress to the agent.
    package func update(
        _ handle: String,
        _ kind: String,
        _ detail: [String: Variant] = [:]
    )
        async throws
    {
        guard let agent = agents.last else { return }
        try await proxy(agent).update(prompt: handle, kind: kind, detail: detail)
    }

    /// Ends a prompt at the agent.
    package func end(_ handle: String, _ outcome: String) async throws {
        guard let agent = agents.last, !agent.peer.hasLeft else { return }
        try await proxy(agent).end(prompt: handle, outcome: outcome)
    }

    private func proxy(_ agent: (peer: Peer, path: ObjectPath)) -> Agent1Proxy {
        Agent1Proxy(connection, destination: agent.peer.name, path: agent.path)
    }

    /// Asks for the password, at most three times.
    private func ask(
        _ policy: UInt32,
        _ reason: String
    ) async throws(DBusError) -> [String:
        Variant]
    {
        do {
            let handle = try await begin([
                "app-name": .string("localauthctl"), "sandboxed": .bool(false),
                "pid": .uint32(UInt32(getpid())), "reason": .string(reason),
                "policy": .uint32(policy), "stage": .string(stage),
                "user": .string("jo"),
            ])
            for left in [UInt32(2), 1, 0] {
                switch await nextAnswer() {
                case .passcode(Array(Self.passcode.utf8)):
                    try await end(handle, "success")
                    return ["mechanism": .string("passcode")]
                case .passcode:
                    try await update(handle, "passcode-rejected", ["attempts-left": .uint32(left)])
                case .invalidated:
                    try await end(handle, "canceled")
                    throw DBusError("org.localauth.Error.AppCancel", "The app canceled.")
                default:
                    try await end(handle, "canceled")
                    throw DBusError("org.localauth.Error.UserCancel", "It was canceled.")
                }
            }
            try await end(handle, "failed")
            throw DBusError("org.localauth.Error.AuthenticationFailed", "No attempt is left.")
        } catch let error as DBusError {
            throw error
        } catch {
            throw DBusError(.failed, "\(error)")
        }
    }
}

extension StandInService: Authentication1Service {
    package func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)> {
        .now((refusal == nil, refusal?.code ?? 0, refusal?.message ?? ""))
    }

    package func canInteract(
        call: IncomingCall
    ) throws(DBusError) -> Answer<
        (available: Bool, cause: String, message: String, remedy: String)
    > {
        guard !isInteractive else { return .now((true, "", "", "")) }
        return .now((false, absence.cause, absence.message, absence.remedy))
    }

    package func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> {
        self.options = options
        return .later { [self] () throws(DBusError) in
            guard let evaluation else { return try await ask(policy, reason) }
            return try await evaluation(call.peer.name, options)
        }
    }

    package func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        remember.yield(.invalidated)
        return .now(())
    }

    package func createContext(
        properties: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<ObjectPath> {
        if let context { return .now(context) }
        throw DBusError(.notSupported, "The stand-in has no contexts.")
    }

    package func registerAgent(
        agent: ObjectPath,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        if let registrationError { throw registrationError }
        try makeRoom()
        agents.append((call.peer, agent))
        remember.yield(
            .registered(
                process: options["process"]?.asUInt32,
                isFallback: options["fallback"]?.asBool ?? false
            )
        )
        return .now("session")
    }

    package func unregisterAgent(
        agent: ObjectPath,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        agents.removeAll { $0.peer.name == call.peer.name && $0.path == agent }
        remember.yield(.unregistered)
        return .now(())
    }

    package func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    {
        remember.yield(.canceled)
        guard !isForgetful else { throw DBusError(.accessDenied, "no prompt of yours") }
        return .now(())
    }

    package func submitFallback(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        remember.yield(.fellBack)
        return .now(())
    }

    package func submitConfirm(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        remember.yield(.confirmed)
        return .now(())
    }

    package func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let secret = passcodeKey.open(sealed, for: .passcode, of: prompt)
        return try take(secret, ClientAction.passcode)
    }

    package func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let isSealed = options["sealed"]?.asBool ?? false
        let secret = passwordKey.open(password, for: .keychain, of: call.peer.name)
        return try take(isSealed ? secret : nil, ClientAction.password)
    }

    private func take(
        _ secret: SecretBytes?,
        _ happening: ([UInt8]) -> ClientAction
    ) throws(DBusError) -> Answer<Void> {
        remember.yield(secret?.use(happening) ?? .unopened)
        if let submitError { throw submitError }
        return .now(())
    }

    package func requirePasscode(
        uid: UInt32,
        cause: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        remember.yield(.locked(uid: uid, cause: cause))
        return .now(())
    }

    package func reportUnlock(
        uid: UInt32,
        method: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        reports.record(method)
        return .now(())
    }

    package func monitor(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        monitors.append(call.peer.name)
        remember.yield(.monitored)
        return .now(())
    }

    package func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]> {
        try makeRoom()
        return .now(checks)
    }

    private func makeRoom() throws(DBusError) {
        guard refusals > 0 else { return }
        refusals -= 1
        throw DBusError(.limitsExceeded, "Not now.")
    }

    package func version(for peer: Peer?) throws(DBusError) -> String { "1.0.0" }
    package func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { 1 }
    package func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32] { [1] }
    package func interactive(for peer: Peer?) throws(DBusError) -> Bool { isInteractive }
}

import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// The caller that receives the progress of an evaluation, and the object that emits it.
@BusActor
struct Audience {
    let peer: Peer
    let source: Source

    enum Source {
        /// The manager; the serial of the call identifies its events.
        case oneShot(serial: UInt32)
        case context(ObjectPath)
        /// A sensor's object; the serial of the call identifies its events.
        case device(ObjectPath, serial: UInt32)
    }

    func tell(_ kind: EventKind, _ detail: [String: Variant], _ connection: Connection) {
        var detail = detail
        switch source {
        case .oneShot(let serial):
            detail["call"] = .uint32(serial)
            Authentication1Signals(connection, path: Authentication1.path)
                .event(kind: kind.rawValue, detail: detail, to: peer.name)
        case .context(let path):
            Context1Signals(connection, path: path)
                .event(kind: kind.rawValue, detail: detail, to: peer.name)
        case .device(let path, let serial):
            detail["call"] = .uint32(serial)
            Device1Signals(connection, path: path)
                .event(kind: kind.rawValue, detail: detail, to: peer.name)
        }
    }
}

/// The texts of a prompt, fixed when the call arrived.
struct ShownText {
    var reason: String
    var fallbackTitle: String?
    var cancelTitle: String?
    var parentWindow: String?
    var activationToken: String?
    var requester: Requester?
}

@BusActor
final class PendingEvaluation {
    struct Prompt {
        let handle: String
        let agent: AgentDirectory.Registration
        let proxy: Agent1Proxy
        /// The verifier's key that the agent got last; empty if it got none.
        var passcodeKey: [UInt8]
        var passcode: [UInt8] = []
        /// The app's own password that is being tried.
        var password: SecretBytes?
    }

    let request: Request
    let audience: Audience
    let text: ShownText
    let process: CallerProcess
    let sandbox: Sandbox
    var prompt: Prompt?
    typealias Match = (sensor: SensorLink, template: String)
    var match: Match?
    /// Whether the evaluation has an agent, but waits for a free place in the lane for prompts.
    var waitsForPlace = false
    /// The session for the prompt, once known.
    var session: String?
    /// Misses and wrong passwords so far.
    private(set) var attempts = 0
    private var answer: CheckedContinuation<Outcome, Never>?
    let password: PasswordUse?

    /// Tries an app's own password.
    typealias PasswordUse = @BusActor (SecretBytes) async -> PasscodeVerdict

    init(
        request: Request,
        audience: Audience,
        text: ShownText,
        sandbox: Sandbox,
        password: PasswordUse? = nil,
        answer: CheckedContinuation<Outcome, Never>
    ) {
        self.password = password
        self.sandbox = sandbox
        self.request = request
        self.audience = audience
        self.text = text
        self.answer = answer
        process = CallerProcess(pid: audience.peer.pid)
    }

    /// Whether the prompt may take a password, in the current or a later stage.
    var mayTakePasscode: Bool { request.stages.contains { $0.contains(.passcode) } }

    /// Replies to the caller; only the first reply counts.
    func reply(_ outcome: Outcome) {
        answer?.resume(returning: outcome)
        answer = nil
    }

    func count(_ progress: Progress) {
        switch progress {
        case .miss, .passcodeRejected: attempts += 1
        default: break
        }
    }

    func details(
        _ presentation: Presentation,
        _ directory: SensorDirectory
    ) -> [String: Variant] {
        var details: [String: Variant] = [
            "sandboxed": .bool(sandbox.isSandboxed),
            "pid": .uint32(UInt32(clamping: audience.peer.pid)),
            "user": .string(UserName.of(request.uid)),
            "reason": .string(text.reason),
            "policy": .uint32(request.policy.rawValue),
            "stage": .string(presentation.stage.rawValue),
            "sensors": .strings(presentation.sensors),
            "biometry-types": .array(
                element: .uint32,
                presentation.types.map { .uint32($0.rawValue) }
            ),
            "require-confirmation": .bool(presentation.requiresConfirmation),
        ]
        if let id = sandbox.id {
            let app = AppIdentity(sandboxID: id)
            details["sandbox-id"] = .string(id)
            details["app-name"] = .string(app.name)
            details["app-icon"] = .string(app.icon)
            details["app-id"] = .string(app.identifier)
        }
        let looking = presentation.sensors.map { ($0, directory.sensors[$0]?.facts) }
        details["sensor-types"] = .array(
            element: .uint32,
            looking.map { .uint32($1?.type.rawValue ?? 0) }
        )
        let texts = looking.compactMap { name, facts -> (String, Variant)? in
            guard let words = facts?.instructions, !words.isEmpty else { return nil }
            return (name, .texts(words))
        }
        if !texts.isEmpty {
            details["instructions"] = .dictionary(Dictionary(texts) { first, _ in first })
        }
        details["fallback-title"] = text.fallbackTitle.map(Variant.string)
        if let title = text.cancelTitle, !title.isEmpty { details["cancel-title"] = .string(title) }
        details["parent-window"] = text.parentWindow.map(Variant.string)
        details["activation-token"] = text.activationToken.map(Variant.string)
        if let requester = text.requester {
            details["requester"] = .string(requester.name)
            details["requester-pid"] = .uint32(requester.pid)
        }
        return details
    }
}

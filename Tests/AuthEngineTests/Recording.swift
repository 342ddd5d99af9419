@testable import AuthEngine

/// The history of an engine, which can be replayed.
///
/// Printed, it is the Swift code of a test that replays a failed life.
struct Recording {
    enum Entry {
        case start(Settings, [UInt32: UserRecord], since: Instant)
        case event(Event, at: Instant)
    }

    private(set) var entries: [Entry] = []
    private(set) var engine = AuthEngine()
    /// The effects of each event.
    private(set) var effects: [[Effect]] = []

    /// Starts the daemon with the records on the disk.
    mutating func start(
        _ settings: Settings,
        _ records: [UInt32: UserRecord],
        since: Instant
    ) {
        entries.append(.start(settings, records, since: since))
        engine = AuthEngine(settings: settings, records: records, since: since)
    }

    @discardableResult
    mutating func take(_ event: Event, at now: Instant) -> [Effect] {
        entries.append(.event(event, at: now))
        let caused = engine.step(event, at: now)
        effects.append(caused)
        return caused
    }

    /// Replays the entries in a new recording.
    func replayed() -> Recording {
        var life = Recording()
        for entry in entries {
            switch entry {
            case .start(let settings, let records, let since):
                life.start(settings, records, since: since)
            case .event(let event, let now): life.take(event, at: now)
            }
        }
        return life
    }

    /// Swift statements that replay the entries on a `life`.
    var swift: String {
        entries.map { entry in
            switch entry {
            case .start(let settings, let records, let since):
                "life.start(\(source(settings)), \(source(records)), since: \(source(since)))"
            case .event(let event, let now): "life.take(\(source(event)), at: \(source(now)))"
            }
        }
        .joined(separator: "\n")
    }
}

/// Returns a copy of a value with some parts changed.
func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var changed = value
    change(&changed)
    return changed
}

/// Returns the Swift expression of a value in an event.
private func source(_ value: Any) -> String {
    switch value {
    case let id as OperationID: return ".init(rawValue: \(id.rawValue))"
    case let id as SaveID: return ".init(rawValue: \(id.rawValue))"
    case let cause as PasscodeCause:
        return cause.text.map { ".remote(\(source($0)))" } ?? "PasscodeCause(.\(cause.word))"
    case let moment as Instant: return ".init(nanoseconds: \(moment.nanoseconds))"
    case let duration as Duration:
        return ".nanoseconds(\((Instant(nanoseconds: 0) + duration).nanoseconds))"
    case let text as String: return text.debugDescription
    case let settings as Settings: return source(settings, from: Settings(), "Settings()")
    case let record as UserRecord: return source(record, from: UserRecord(), "UserRecord()")
    case let facts as Facts: return source(facts, from: Facts(), "Facts()")
    case let agent as Agent:
        let plain = Agent(
            id: agent.id,
            client: agent.client,
            uid: agent.uid,
            session: agent.session,
            kind: agent.kind
        )
        let call =
            "Agent(id: \(source(agent.id)), client: \(source(agent.client)), uid: \(agent.uid), "
            + "session: \(source(agent.session)), kind: \(source(agent.kind)))"
        return source(agent, from: plain, call)
    case let request as Request:
        let plain = Request(
            id: request.id,
            client: request.client,
            uid: request.uid,
            policy: request.policy
        )
        let call =
            "Request(id: \(source(request.id)), client: \(source(request.client)), "
            + "uid: \(request.uid), policy: \(source(request.policy)))"
        return source(request, from: plain, call)
    default: return sourceOfParts(of: value)
    }
}

/// Returns a value as its difference from a default value.
private func source<Value>(_ value: Value, from plain: Value, _ call: String) -> String {
    let changes = zip(Mirror(reflecting: value).children, Mirror(reflecting: plain).children)
        .map { ($0.label ?? "", source($0.value), source($1.value)) }
        .filter { $1 != $2 }
        .map { label, new, _ in "$0.\(label) = \(new)" }
    return changes.isEmpty ? call : "with(\(call)) { \(changes.joined(separator: "; ")) }"
}

private func sourceOfParts(of value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    let parts = mirror.children.map { source($0.value) }
    switch mirror.displayStyle {
    case .optional: return parts.first ?? "nil"
    case .collection: return "[\(parts.joined(separator: ", "))]"
    case .set: return "[\(parts.sorted().joined(separator: ", "))]"
    case .dictionary:
        let pairs = mirror.children.map { child in
            Mirror(reflecting: child.value).children.map { source($0.value) }
                .joined(separator: ": ")
        }
        return pairs.isEmpty ? "[:]" : "[\(pairs.sorted().joined(separator: ", "))]"
    case .tuple: return "(\(labeled(mirror.children)))"
    case .enum:
        guard let payload = mirror.children.first else { return ".\(value)" }
        let tuple = Mirror(reflecting: payload.value)
        let arguments =
            tuple.displayStyle == .tuple ? labeled(tuple.children) : source(payload.value)
        return ".\(payload.label ?? "")(\(arguments))"
    // An identifier has a single number without a label.
    case .struct where mirror.children.first?.label == "rawValue":
        return ".init(\(parts.joined()))"
    case .struct: return ".init(\(labeled(mirror.children)))"
    default: return "\(value)"
    }
}

private func labeled(_ children: Mirror.Children) -> String {
    children.map { child in
        let label = child.label.map { $0.hasPrefix(".") ? "" : "\($0): " } ?? ""
        return label + source(child.value)
    }
    .joined(separator: ", ")
}

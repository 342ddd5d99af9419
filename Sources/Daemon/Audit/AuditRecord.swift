import Contract
import DBus
import ServiceProgram

/// One decision as it is written down.
struct AuditRecord: Hashable, Sendable {
    /// The longest value, in characters.
    static let longestValue = 256

    let kind: AuditKind
    /// The user it is about, where it is about one.
    let uid: UInt32?
    private(set) var fields: [AuditField: String]

    init(_ kind: AuditKind, uid: UInt32? = nil, _ fields: [AuditField: String?] = [:]) {
        self.kind = kind
        self.uid = uid
        self.fields = [.event: kind.rawValue]
        self.fields[.uid] = uid.map(String.init)
        set(fields)
    }

    /// A call that was refused before it was looked into, malformed or one too many; nil: nothing
    /// would have been decided.
    init?(refusalOf member: String, of uid: UInt32, _ error: DBusError) {
        let kind: AuditKind
        switch member {
        case "Evaluate", "EvaluateAccessControl": kind = .evaluationEnded
        case "Read", "Sign", "Decrypt", "KeyExchange": kind = .itemUsed
        case "Add", "CreateKey": kind = .itemAdded
        case "Update", "SetSecret": kind = .itemChanged
        case "Delete": kind = .itemDeleted
        default: return nil
        }
        // Where there is no such method there is nothing to refuse.
        let isElsewhere = [.unknownObject, .unknownInterface, .unknownMethod].contains(error.name)
        guard !isElsewhere else { return nil }
        self.init(kind, uid: uid, [.outcome: error.outcome])
    }

    /// The record with more in it.
    func adding(_ fields: [AuditField: String?]) -> AuditRecord {
        var record = self
        record.set(fields)
        return record
    }

    /// The record with on whose behalf the caller says that it asked.
    func asked(for requester: Requester?) -> AuditRecord {
        guard let requester else { return self }
        let pid = requester.pid == 0 ? nil : "\(requester.pid)"
        return adding([.requester: requester.name, .requesterPID: pid])
    }

    private mutating func set(_ fields: [AuditField: String?]) {
        for (field, value) in fields {
            guard let value else { continue }
            self.fields[field] = DisplayText.cleaned(value, limit: Self.longestValue)
        }
    }

    /// Whether it is counted when there are many of its kind.
    ///
    /// A person who proved who they are is always written down, so that no flood of refusals hides
    /// it; what an earlier proof is worth is not, because an app can ask for that without end.
    var isRepeatable: Bool {
        guard kind == .evaluationEnded || kind == .itemUsed, let mechanism = fields[.mechanism]
        else { return kind.isRepeatable }
        return mechanism == "context" || mechanism == "reuse"
    }

    /// One sentence for people.
    var message: String {
        let user = "user \(fields[.uid] ?? "?")"
        let caller = fields[.callerProgram] ?? "process \(fields[.callerPID] ?? "?")"
        let sensor = fields[.sensor] ?? "?"
        let cause = fields[.cause] ?? "?"
        let outcome = (fields[.outcome] ?? "?") + (fields[.mechanism].map { " by \($0)" } ?? "")
        return switch kind {
        case .evaluationEnded:
            "Evaluation of \(user) for \(caller) ended: \(outcome)."
        case .lockoutBegan: "Biometry of \(user) is locked after too many failed attempts."
        case .lockoutCleared: "Biometry of \(user) can be used again."
        case .passcodeDelayBegan:
            "No passcode of \(user) is taken for \(fields[.seconds] ?? "?") seconds."
        case .passcodeRequired: "Biometry of \(user) waits for a passcode: \(cause)."
        case .enrolmentChanged: "The templates of \(user) changed."
        case .learnedChanged:
            "What the sensor \(sensor) learned of \(user) was to change: "
                + "\(fields[.operation] ?? "?"), \(outcome)."
        case .itemAdded: "A keychain item of \(user) was to be added: \(outcome)."
        case .itemChanged: "A keychain item of \(user) was to be changed: \(outcome)."
        case .itemDeleted: "A keychain item of \(user) was to be deleted: \(outcome)."
        case .itemUsed: "A keychain item of \(user) was asked for: \(outcome)."
        case .agentRegistered: "A prompt agent of \(user) registered."
        case .agentLeft: "A prompt agent of \(user) left."
        case .sensorFailed: "The sensor \(sensor) can't be used: \(cause)."
        case .sensorUntrusted: "A program that is not trusted poses as the sensor \(sensor)."
        case .configurationReloaded: "The configuration was read again."
        case .configurationRefused: "The configuration was refused, the old one stays: \(cause)"
        case .databaseSetAside: "The database was damaged and set aside: \(fields[.file] ?? "?")."
        case .serviceStarted: "The authentication service started."
        case .serviceStopped: "The authentication service stopped."
        case .repeated:
            "\(fields[.count] ?? "?") more of \(fields[.repeated] ?? "?")"
                + (uid == nil ? "." : " of \(user).")
        }
    }

    var priority: LogPriority {
        switch kind {
        case .databaseSetAside, .configurationRefused: .error
        case .lockoutBegan, .passcodeDelayBegan, .sensorFailed, .sensorUntrusted, .repeated:
            .warning
        case .evaluationEnded where fields[.mechanism] == nil: .notice
        case .passcodeRequired, .enrolmentChanged, .learnedChanged, .lockoutCleared: .notice
        default: .info
        }
    }

    /// Everything that the journal is told, in a fixed order.
    var entry: [(name: String, value: String)] {
        let own = AuditField.allCases.compactMap { field in
            fields[field].map { (name: field.rawValue, value: $0) }
        }
        return [
            ("MESSAGE", message), ("MESSAGE_ID", kind.messageID),
            ("PRIORITY", "\(priority.rawValue)"), ("SYSLOG_IDENTIFIER", "localauthd"),
            // authpriv, where login and sudo write as well.
            ("SYSLOG_FACILITY", "10"),
        ] + own
    }

    /// The record as one line, for where there is no journal.
    var line: String {
        let words = AuditField.allCases.dropFirst()
            .compactMap { field in
                fields[field]
                    .map { " \(field.rawValue.dropFirst(10).lowercased())=\(Self.quoted($0))" }
            }
        return "audit: \(kind.rawValue)" + words.joined()
    }

    /// A value that can't be taken for the next one.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "._:/+-".unicodeScalars.contains($0)
        }
        guard !isPlain || value.isEmpty else { return value }
        // By scalars: with an accent a quotation mark is another character.
        let escaped = value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"\(escaped.joined())\""
    }
}

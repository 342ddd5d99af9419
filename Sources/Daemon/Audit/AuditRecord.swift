import Contract
import DBus
import ServiceProgram

struct AuditRecord: Hashable, Sendable {
    /// The longest value, in characters; longer values are cut.
    static let longestValue = 256

    let kind: AuditKind
    /// The user that the record is about; nil if it concerns no user.
    let uid: UInt32?
    private(set) var fields: [AuditField: String]

    init(_ kind: AuditKind, uid: UInt32? = nil, _ fields: [AuditField: String?] = [:]) {
        self.kind = kind
        self.uid = uid
        self.fields = [.event: kind.rawValue]
        self.fields[.uid] = uid.map(String.init)
        set(fields)
    }

    /// Records a call that was refused before its method ran; nil if the method makes no decision.
    init?(refusalOf member: String, of uid: UInt32, _ error: DBusError) {
        let kind: AuditKind
        switch member {
        case "Evaluate", "EvaluateAccessControl": kind = .evaluationEnded
        case "Read", "ReadMatching", "Sign", "Decrypt", "KeyExchange": kind = .itemUsed
        case "Add", "CreateKey": kind = .itemAdded
        case "Update", "SetSecret": kind = .itemChanged
        case "Delete": kind = .itemDeleted
        default: return nil
        }
        // A missing method has no decision to refuse.
        let isElsewhere = [.unknownObject, .unknownInterface, .unknownMethod].contains(error.name)
        guard !isElsewhere else { return nil }
        self.init(kind, uid: uid, [.outcome: error.outcome])
    }

    func adding(_ fields: [AuditField: String?]) -> AuditRecord {
        var record = self
        record.set(fields)
        return record
    }

    /// Returns the record with the app on whose behalf the caller claims to ask.
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

    /// Whether the limit of its kind applies to this record.
    ///
    /// A proof by a person is always written, so that no flood of refusals hides it. Grants from an
    /// earlier proof are limited, because an app can request them endlessly.
    var isRepeatable: Bool {
        guard kind == .evaluationEnded || kind == .itemUsed, let mechanism = fields[.mechanism]
        else { return kind.isRepeatable }
        return mechanism == "context" || mechanism == "reuse"
    }

    /// A sentence for readers of the journal.
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
            "No password of \(user) is taken for \(fields[.seconds] ?? "?") seconds."
        case .passcodeRequired: "Biometry of \(user) waits for a password: \(cause)."
        case .enrolmentChanged: "The templates of \(user) changed."
        case .learnedChanged:
            "Learned data of sensor \(sensor) of \(user) was to change: "
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
        case .configurationRefused: "The configuration was refused, the old settings stay: \(cause)"
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

    /// The journal's fields, in a fixed order.
    var entry: [(name: String, value: String)] {
        let own = AuditField.allCases.compactMap { field in
            fields[field].map { (name: field.rawValue, value: $0) }
        }
        return [
            ("MESSAGE", message), ("MESSAGE_ID", kind.messageID),
            ("PRIORITY", "\(priority.rawValue)"), ("SYSLOG_IDENTIFIER", "localauthd"),
            // Facility authpriv, as login and sudo use.
            ("SYSLOG_FACILITY", "10"),
        ] + own
    }

    /// The record as one line, for a system without a journal.
    var line: String {
        let words = AuditField.allCases.dropFirst()
            .compactMap { field in
                fields[field]
                    .map { " \(field.rawValue.dropFirst(10).lowercased())=\(Self.quoted($0))" }
            }
        return "audit: \(kind.rawValue)" + words.joined()
    }

    /// Quotes a value, so that it can't forge a further field.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "._:/+-".unicodeScalars.contains($0)
        }
        guard !isPlain || value.isEmpty else { return value }
        // Escape scalars, because a quotation mark with a combining accent is another Character.
        let escaped = value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"\(escaped.joined())\""
    }
}

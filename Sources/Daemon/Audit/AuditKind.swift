/// The kinds of decisions that the audit trail records (L15).
///
/// `docs/admin/audit.md` lists the kinds and their fields. `dbus/systemd/localauth.catalog` explains each
/// kind to readers of the journal.
enum AuditKind: String, CaseIterable, Sendable {
    case evaluationEnded = "evaluation-ended"
    case lockoutBegan = "lockout-began"
    case lockoutCleared = "lockout-cleared"
    case passcodeDelayBegan = "passcode-delay-began"
    case passcodeRequired = "passcode-required"
    case enrolmentChanged = "enrolment-changed"
    case learnedChanged = "learned-changed"
    case itemAdded = "item-added"
    case itemChanged = "item-changed"
    case itemDeleted = "item-deleted"
    case itemUsed = "item-used"
    case agentRegistered = "agent-registered"
    case agentLeft = "agent-left"
    case sensorFailed = "sensor-failed"
    case sensorUntrusted = "sensor-untrusted"
    case configurationReloaded = "configuration-reloaded"
    case configurationRefused = "configuration-refused"
    case databaseSetAside = "database-set-aside"
    case serviceStarted = "service-started"
    case serviceStopped = "service-stopped"
    /// Summarizes records of a kind and user that exceeded the limit.
    case repeated

    /// The MESSAGE_ID, which never changes and is never reused for another kind.
    var messageID: String {
        switch self {
        case .evaluationEnded: "a4ed719f9c89467da2b63627f2effc42"
        case .lockoutBegan: "2bfc1bc8bec44a789498f7def97d4ab6"
        case .lockoutCleared: "5f96b68dc60747c69c71d653f8e4a0fe"
        case .passcodeDelayBegan: "b382faae24f34ce19f8f298b4d5d9a3e"
        case .passcodeRequired: "460e43af153940e4b0c0b65c1afbb2c4"
        case .enrolmentChanged: "0c17829cefee42dc8cc3cc8fa640276e"
        case .learnedChanged: "6956c4d6ed4e4d56baaf2cc123a74437"
        case .itemAdded: "67b02612f61f431ebca3677bd55e41bf"
        case .itemChanged: "16e7c2b2c72c426c9c84e665c9d1f637"
        case .itemDeleted: "7df966535f134896b503afc57242ea45"
        case .itemUsed: "bfc9e5df22ae49aeb8eb18fce2094c87"
        case .agentRegistered: "6a69796e129340e48c6350221cda497d"
        case .agentLeft: "ba585072c727455a82f2a83a84a6be0d"
        case .sensorFailed: "0389d166640c428ab91c645a82bbbe97"
        case .sensorUntrusted: "94b8b20b33ff480fa9d6d500e1328813"
        case .configurationReloaded: "436d139ca416420d9e3bad53a6c12097"
        case .configurationRefused: "092253b5c19246bf88edf194e698cffe"
        case .databaseSetAside: "0a39de91b22540b59d87fc80d1db962b"
        case .serviceStarted: "38b34d50795246df950c20dcef2eaac4"
        case .serviceStopped: "8465eaf4474a43ae8279a8706b132726"
        case .repeated: "5361480a30cc4f23a01fac3f820d78b5"
        }
    }

    /// Whether a program can cause any number of these records, so that a limit applies.
    ///
    /// The other kinds require a person, a password or the administrator.
    var isRepeatable: Bool {
        switch self {
        case .evaluationEnded, .passcodeRequired, .enrolmentChanged, .itemAdded, .itemChanged,
            .itemDeleted, .itemUsed, .agentRegistered, .agentLeft, .sensorFailed, .sensorUntrusted:
            true
        case .lockoutBegan, .lockoutCleared, .passcodeDelayBegan, .learnedChanged,
            .configurationReloaded, .configurationRefused, .databaseSetAside, .serviceStarted,
            .serviceStopped, .repeated:
            false
        }
    }
}

/// The fields of a record.
///
/// Raw values are the field names in the journal.
///
/// No field may carry a prompt's reason, a secret, a template or a score.
enum AuditField: String, CaseIterable, Sendable {
    case event = "LOCALAUTH_EVENT"
    case uid = "LOCALAUTH_UID"
    case session = "LOCALAUTH_SESSION"
    /// The unique name of the caller's connection.
    case caller = "LOCALAUTH_CALLER"
    case callerUID = "LOCALAUTH_CALLER_UID"
    case callerPID = "LOCALAUTH_CALLER_PID"
    /// The file name of the caller's program; absent if the daemon can't prove it.
    case callerProgram = "LOCALAUTH_CALLER_PROGRAM"
    /// The app on whose behalf the caller claims to ask. The daemon does not verify it.
    case requester = "LOCALAUTH_REQUESTER"
    case requesterPID = "LOCALAUTH_REQUESTER_PID"
    /// A policy number, 1 to 4.
    case policy = "LOCALAUTH_POLICY"
    case item = "LOCALAUTH_ITEM"
    case operation = "LOCALAUTH_OPERATION"
    /// `Success`, or the name of the error.
    case outcome = "LOCALAUTH_OUTCOME"
    case mechanism = "LOCALAUTH_MECHANISM"
    case sensor = "LOCALAUTH_SENSOR"
    case attempts = "LOCALAUTH_ATTEMPTS"
    /// The cause: a word or sentence of the service, or text from RequirePasscode.
    case cause = "LOCALAUTH_CAUSE"
    /// The length of a delay, in seconds.
    case seconds = "LOCALAUTH_SECONDS"
    /// The path of a damaged database that the service moved away.
    case file = "LOCALAUTH_FILE"
    case repeated = "LOCALAUTH_REPEATED"
    case count = "LOCALAUTH_COUNT"
}

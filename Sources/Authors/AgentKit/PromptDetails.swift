public import DBus

/// What a prompt has to show, decoded and bounded; all text is plain.
public struct PromptDetails: Hashable, Sendable {
    /// What the prompt asks for first.
    public typealias Stage = PromptStage

    /// The name of the app or the program, without quotation marks; empty without proof.
    public let appName: String
    /// A themed icon's name or a path; empty when there is none.
    public let appIcon: String
    /// Whether the caller is, or may be, a sandboxed app.
    public let isSandboxed: Bool
    /// The id of a sandboxed app; empty when it is unknown.
    public let sandboxID: String
    /// The program of a caller outside sandboxes; nil when it cannot be proven.
    public let program: AskingProgram?
    /// The process of the caller; 0 when unknown.
    public let pid: UInt32
    /// On whose behalf the app says that it asks, without quotation marks; empty: nobody's.
    public let requester: String
    /// The process of that, as the app says; 0 when unknown.
    public let requesterPID: UInt32
    /// Whose passcode it is.
    public let user: String
    /// What the app wants to do; never empty.
    public let reason: String
    /// The policy, 1 to 4.
    public let policy: UInt32
    /// What the prompt asks for first.
    public let stage: Stage
    /// What the sensors look at: 1 fingerprint, 2 face, 4 iris.
    public let biometryTypes: [UInt32]
    /// The sensors that look.
    public let sensors: [String]
    /// What the sensors look at, each of ``sensors``; 0 for a companion, empty when it is not told.
    let sensorTypes: [UInt32]
    /// What sensors ask for in their own words, in the user's language, by their names.
    public let instructions: [String: String]
    /// The cancel button's title; nil is the default.
    public let cancelTitle: String?
    /// The fallback button's title; nil is the default, empty means no button.
    public let fallbackTitle: String?
    /// Whether a match has to be confirmed.
    public let requiresConfirmation: Bool
    /// The app's window, as the desktop portals write it; empty when there is none.
    public let parentWindow: String
    /// The token that lets the prompt take the focus; empty when there is none.
    public let activationToken: String

    /// Decodes the details of a Begin call; unknown keys are ignored.
    ///
    /// `lookUp` finds the program of a process outside sandboxes, where the agent can prove it.
    /// - Throws: InvalidArgs for a wrong type, an unknown stage or an empty reason.
    public init(
        _ details: [String: Variant],
        lookUp: (_ pid: UInt32) -> AskingProgram? = { _ in nil }
    ) throws(DBusError) {
        let fields = Fields(values: details)
        isSandboxed = try fields.value("sandboxed", \.asBool) ?? true
        pid = try fields.value("pid", \.asUInt32) ?? 0
        let id = try fields.text("sandbox-id", limit: 255) ?? ""
        let name = try fields.text("app-name", limit: 128) ?? ""
        let icon = try fields.text("app-icon", limit: 1024) ?? ""
        sandboxID = isSandboxed ? id : ""
        program = isSandboxed ? nil : lookUp(pid)
        // Only the id of a sandbox proves the name that the service gives.
        appName = withoutQuotationMarks(sandboxID.isEmpty ? program?.name ?? "" : name)
        appIcon = sandboxID.isEmpty ? program?.icon ?? "" : icon
        let requester = try fields.text("requester", limit: 128) ?? ""
        self.requester = withoutQuotationMarks(requester)
        requesterPID = try fields.value("requester-pid", \.asUInt32) ?? 0
        user = try fields.text("user", limit: 64) ?? ""
        reason = try fields.text("reason", limit: 512) ?? ""
        policy = try fields.value("policy", \.asUInt32) ?? 0
        let stage = Stage(rawValue: try fields.text("stage", limit: 32) ?? "")
        biometryTypes = Array(try fields.numbers("biometry-types").prefix(8))
        sensors = (try fields.value("sensors", \.asStrings) ?? []).prefix(32)
            .map {
                plainText($0, limit: 64)
            }
        sensorTypes = Array(try fields.numbers("sensor-types").prefix(32))
        instructions = try fields.instructions(of: sensors)
        let cancel = try fields.text("cancel-title", limit: 64) ?? ""
        cancelTitle = cancel.isEmpty ? nil : cancel
        fallbackTitle = try fields.text("fallback-title", limit: 64)
        requiresConfirmation = try fields.value("require-confirmation", \.asBool) ?? false
        parentWindow = try fields.text("parent-window", limit: 255) ?? ""
        activationToken = try fields.text("activation-token", limit: 255) ?? ""
        guard let stage, reason.contains(where: { $0 != " " }) else {
            throw DBusError(.invalidArgs, "A prompt needs a known stage and a reason.")
        }
        self.stage = stage
    }

    /// The types of the sensors at work, each once; 0 is a companion.
    var types: [UInt32] {
        (biometryTypes + sensorTypes)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Whether a password is taken from the first moment (L6).
    public var takesPasscodeAtOnce: Bool { stage != .biometry || policy == 2 }
}

/// Typed look-ups in a dictionary from the wire: absent is nil, a wrong type an error.
struct Fields {
    let values: [String: Variant]

    func value<T>(_ key: String, _ read: (Variant) -> T?) throws(DBusError) -> T? {
        guard let found = values[key] else { return nil }
        guard let value = read(found) else {
            throw DBusError(.invalidArgs, "“\(key)” has the wrong type.")
        }
        return value
    }

    func text(_ key: String, limit: Int) throws(DBusError) -> String? {
        try value(key, \.asString).map { plainText($0, limit: limit) }
    }

    /// Each sensor's text in the language that the user prefers, else in English.
    func instructions(of sensors: [String]) throws(DBusError) -> [String: String] {
        let all = try value("instructions", \.asDictionary) ?? [:]
        var chosen: [String: String] = [:]
        for sensor in sensors { chosen[sensor] = all[sensor]?.asTexts.flatMap(ownWords) }
        return chosen
    }

    func numbers(_ key: String) throws(DBusError) -> [UInt32] {
        try value(key) { (value: Variant) -> [UInt32]? in
            guard case .array(_, let elements) = value else { return nil }
            return elements.compactMap(\.asUInt32)
        } ?? []
    }
}

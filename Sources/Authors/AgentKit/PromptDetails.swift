public import DBus

/// The contents of a prompt, decoded and bounded; all text is plain.
public struct PromptDetails: Hashable, Sendable {
    public typealias Stage = PromptStage

    /// The name of the app or program, without quotation marks; empty if unverified.
    public let appName: String
    /// The name of a themed icon, or a path; empty without an icon.
    public let appIcon: String
    /// Whether the caller is, or may be, a sandboxed app.
    public let isSandboxed: Bool
    /// The sandboxed app's id; empty if unknown.
    public let sandboxID: String
    /// The program of an unsandboxed caller; nil if unverified.
    public let program: CallerProgram?
    /// The caller's pid; 0 if unknown.
    public let pid: UInt32
    /// The app that the caller claims to act for, without quotation marks; empty without a claim.
    public let requester: String
    /// The claimed app's pid; 0 if unknown.
    public let requesterPID: UInt32
    /// The name of the user to authenticate.
    public let user: String
    /// The action that the app wants to perform; never empty.
    public let reason: String
    public let policy: UInt32
    public let stage: Stage
    /// The sensors' kinds: 1 fingerprint, 2 face, 4 iris.
    public let biometryTypes: [UInt32]
    /// Names of the sensors that look for a match.
    public let sensors: [String]
    /// The kind of each sensor in ``sensors``; 0 for a companion.
    ///
    /// Empty if the service gave no kinds.
    let sensorTypes: [UInt32]
    /// The sensors' own instructions in the user's language, by sensor name.
    public let instructions: [String: String]
    /// The cancel button's title; nil for the default.
    public let cancelTitle: String?
    /// The fallback button's title; nil for the default, empty for no button.
    public let fallbackTitle: String?
    public let requiresConfirmation: Bool
    /// The handle of the app's window in the desktop portals' format; may be empty.
    public let parentWindow: String
    /// The token that lets the prompt take the focus; may be empty.
    public let activationToken: String

    /// Decodes the details of a Begin call; unknown keys are ignored.
    ///
    /// `lookUp` returns the program of an unsandboxed process if the agent can verify it.
    ///
    /// - Throws: InvalidArgs for a wrong type, an unknown stage or an empty reason.
    public init(
        _ details: [String: Variant],
        lookUp: (_ pid: UInt32) -> CallerProgram? = { _ in nil }
    ) throws(DBusError) {
        let fields = Fields(values: details)
        isSandboxed = try fields.value("sandboxed", \.asBool) ?? true
        pid = try fields.value("pid", \.asUInt32) ?? 0
        let id = try fields.text("sandbox-id", limit: 255) ?? ""
        let name = try fields.text("app-name", limit: 128) ?? ""
        let icon = try fields.text("app-icon", limit: 1024) ?? ""
        sandboxID = isSandboxed ? id : ""
        program = isSandboxed ? nil : lookUp(pid)
        // Only a sandbox id proves the name that the service sends.
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

    /// The distinct types of the active sensors; 0 is a companion.
    var types: [UInt32] {
        (biometryTypes + sensorTypes)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Whether the prompt takes a password from the start (L6).
    public var takesPasscodeAtOnce: Bool { stage != .biometry || policy == 2 }
}

/// Typed look-ups in a dictionary of the wire: nil for an absent key, an error for a wrong type.
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

    /// Each sensor's text in the user's preferred language, or in English.
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

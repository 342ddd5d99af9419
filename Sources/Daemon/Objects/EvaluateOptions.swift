import AuthEngine
import Contract
import DBus

/// The checked options of one Evaluate call.
struct EvaluateOptions {
    var timeout = Duration.seconds(120)
    var fallbackTitle: String?
    var cancelTitle: String?
    var isInteractionNotAllowed: Bool?
    var reuseDuration: Double?
    var sensors: [String]?
    var minimumStrength: Strength?
    var requiresConfirmation: Bool?
    var parentWindow: String?
    var activationToken: String?
    var uid: UInt32?
    var isForLockScreen: Bool?

    /// Reads the known options and ignores others.
    ///
    /// - Throws: InvalidArgs for a wrong type or a value out of range.
    init(_ options: [String: Variant]) throws(DBusError) {
        let reader = OptionReader(options)
        if let milliseconds = try reader.value("timeout", \.asUInt64), milliseconds != 0 {
            guard milliseconds <= 600_000 else {
                throw .invalid("option timeout is over 600000 ms")
            }
            timeout = .milliseconds(Int64(milliseconds))
        }
        fallbackTitle = try reader.title("fallback-title")
        cancelTitle = try reader.title("cancel-title")
        isInteractionNotAllowed = try reader.value("interaction-not-allowed", \.asBool)
        reuseDuration = try reader.value("reuse-duration", \.asDouble)
        if let reuseDuration { try Self.check(duration: reuseDuration, of: "reuse-duration") }
        sensors = try reader.value("sensors", \.asStrings)
        if let sensors, sensors.count > 64 { throw .invalid("option sensors names more than 64") }
        if let word = try reader.value("minimum-strength", \.asString) {
            guard let strength = Strength(rawValue: word) else {
                throw .invalid("option minimum-strength is none of strong, weak, convenience")
            }
            minimumStrength = strength
        }
        requiresConfirmation = try reader.value("require-confirmation", \.asBool)
        parentWindow = try reader.token("parent-window")
        activationToken = try reader.token("activation-token")
        uid = try reader.value("uid", \.asUInt32)
        isForLockScreen = try reader.value("lock-screen", \.asBool)
        if uid == UInt32.max { throw .invalid("there is no such user") }
    }

    /// Checks that a number of seconds is finite and not negative.
    static func check(duration: Double, of name: String) throws(DBusError) {
        guard duration.isFinite, duration >= 0 else {
            throw .invalid("\(name) is negative, infinite or not a number")
        }
    }
}

struct OptionReader {
    private let options: [String: Variant]

    init(_ options: [String: Variant]) {
        self.options = options
    }

    /// Returns the value of an option, or nil if it is absent.
    ///
    /// - Throws: InvalidArgs if the value has a different type.
    func value<T>(_ name: String, _ path: (Variant) -> T?) throws(DBusError) -> T? {
        guard let variant = options[name] else { return nil }
        guard let value = path(variant) else {
            throw .invalid("option \(name) has the wrong type, \(variant.signature)")
        }
        return value
    }

    /// Returns a button's title, cleaned and cut.
    func title(_ name: String) throws(DBusError) -> String? {
        guard let text = try value(name, \.asString) else { return nil }
        return DisplayText.cleaned(text, limit: DisplayText.titleLimit)
    }

    /// Returns an opaque text of at most 4096 bytes, which is passed on unchanged.
    func token(_ name: String) throws(DBusError) -> String? {
        guard let text = try value(name, \.asString) else { return nil }
        guard text.utf8.count <= 4096 else { throw .invalid("option \(name) is over 4096 bytes") }
        return text
    }
}

extension DBusError {
    static func invalid(_ message: String) -> DBusError { DBusError(.invalidArgs, message) }
    static func denied(_ message: String) -> DBusError { DBusError(.accessDenied, message) }
    static func exceeded(_ message: String) -> DBusError { DBusError(.limitsExceeded, message) }
}

enum Checked {
    /// The longest accepted reason, in bytes.
    static let longestReason = 65_536

    static func policy(_ raw: UInt32) throws(DBusError) -> Policy {
        guard let policy = Policy(rawValue: raw) else {
            throw .invalid("policy \(raw) is none of 1, 2, 3, 4")
        }
        return policy
    }

    /// Returns the reason as the prompt shows it (R20, L14).
    static func reason(_ text: String) throws(DBusError) -> String {
        guard text.utf8.count <= longestReason else { throw .invalid("the reason is over 64 KiB") }
        let shown = DisplayText.cleaned(text, limit: DisplayText.reasonLimit)
        guard !shown.isEmpty else {
            throw .invalid("Non-empty localizedReason must be provided.")
        }
        return shown
    }
}

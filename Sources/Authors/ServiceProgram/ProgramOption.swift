import DBus

/// An option of a program, beyond `--bus`, `--help` and `--version`, which every program has.
public struct ProgramOption: Sendable, Hashable {
    let name: String
    /// Stands for the value in the help text; nil for a flag, which takes none.
    let placeholder: String?
    let help: String
    let defaultValue: String?
    let allowed: [String]

    /// An option that takes a value: `--name value` or `--name=value`.
    ///
    /// `name` is the word after the two dashes, `placeholder` stands for the value in the help
    /// text, `default` is the value when the option is absent. With `allowed` empty, any value is
    /// accepted that isn't empty.
    public static func value(
        _ name: String,
        _ placeholder: String,
        help: String,
        default: String? = nil,
        allowed: [String] = []
    ) -> Self {
        Self(
            name: name,
            placeholder: placeholder,
            help: help,
            defaultValue: `default`,
            allowed: allowed
        )
    }

    /// An option without a value.
    public static func flag(_ name: String, help: String) -> Self {
        Self(name: name, placeholder: nil, help: help, defaultValue: nil, allowed: [])
    }

    /// Has a program whose ``RunningService`` has an ``Idleness`` end when it is idle.
    public static let idleTimeout = Self.value(
        "idle-timeout",
        "SECONDS",
        help: "End when nobody called for so long; the bus starts it again (default: never)."
    )

    /// What every program takes.
    static func common(_ defaultBus: Connection.Address?) -> [Self] {
        let usual = "The bus to serve (default: system for root, session otherwise)."
        let bus = defaultBus == .system ? "The bus of the service (default: system)." : usual
        return [
            .value("bus", "system|session|ADDRESS", help: bus),
            .flag("help", help: "Show this text."),
            .flag("version", help: "Show the version."),
        ]
    }

    func helpLine(width: Int) -> String {
        let pad = String(repeating: " ", count: max(0, width - label.count))
        let suffix = defaultValue.map { " (default: \($0))" } ?? ""
        return "  \(label)\(pad)  \(help)\(suffix)"
    }

    var label: String {
        guard let placeholder else { return "--\(name)" }
        return "--\(name) \(allowed.isEmpty ? placeholder : allowed.joined(separator: "|"))"
    }
}

import DBus

/// A command-line option, in addition to the common `--bus`, `--help` and `--version`.
public struct ProgramOption: Sendable, Hashable {
    let name: String
    /// The value's placeholder in the help text; nil for a flag.
    let placeholder: String?
    let help: String
    let defaultValue: String?
    let allowed: [String]

    /// An option that takes a value: `--name value` or `--name=value`.
    ///
    /// `name` excludes the two dashes. `placeholder` stands for the value in the help text.
    /// `default` is the value of an absent option. With `allowed` empty, any value except the empty
    /// string is accepted.
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

    public static func flag(_ name: String, help: String) -> Self {
        Self(name: name, placeholder: nil, help: help, defaultValue: nil, allowed: [])
    }

    /// Ends an idle program, if its ``RunningService`` has an ``Idleness``.
    public static let idleTimeout = Self.value(
        "idle-timeout",
        "SECONDS",
        help: "The idle time before the program ends; the bus starts it again (default: never)."
    )

    /// The options of every program.
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

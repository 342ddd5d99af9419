public import DBus
import Glibc

/// The parsed command line of a program.
public struct ProgramArguments: Sendable, Hashable {
    /// The bus to serve: `--bus`, or the system bus for root and the session bus for other users.
    public let bus: Connection.Address
    private let values: [String: String]
    private let flags: Set<String>

    /// The value of an option, or its default, or nil.
    public subscript(_ option: String) -> String? { values[option] }

    public func hasFlag(_ flag: String) -> Bool { flags.contains(flag) }

    init(values: [String: String], flags: Set<String>, defaultBus: Connection.Address? = nil) {
        self.values = values
        self.flags = flags
        bus = values["bus"].map(Connection.Address.init(argument:)) ?? defaultBus ?? Self.usualBus
    }

    private static var usualBus: Connection.Address { geteuid() == 0 ? .system : .session }
}

/// A malformed command line; prints one line and a hint, with exit status 64.
public struct UsageError: Error, CustomStringConvertible, Hashable {
    public let description: String

    public init(_ message: String) { description = message }
}

enum CommandLineRequest: Hashable {
    case run(ProgramArguments)
    case help
    case version
}

extension ServiceProgram {
    /// Parses the words after the program's name; the last of repeated options wins.
    func parse(_ words: [String]) throws(UsageError) -> CommandLineRequest {
        var values: [String: String] = [:]
        var flags: Set<String> = []
        for option in options { values[option.name] = option.defaultValue }

        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { throw UsageError("unexpected argument '\(word)'") }
            let parts = word.dropFirst(2)
                .split(
                    separator: "=",
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
            let name = String(parts[0])
            guard let option = options.first(where: { $0.name == name }) else {
                throw UsageError("unknown option '--\(name)'")
            }
            let attached = parts.count > 1 ? String(parts[1]) : nil
            if option.placeholder == nil {
                guard attached == nil else { throw UsageError("--\(name) takes no value") }
                if name == "help" { return .help }
                if name == "version" { return .version }
                flags.insert(name)
            } else {
                guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                    throw UsageError("--\(name) needs a value")
                }
                guard option.allowed.isEmpty || option.allowed.contains(value) else {
                    let allowed = option.allowed.joined(separator: ", ")
                    throw UsageError("--\(name) is one of \(allowed), not '\(value)'")
                }
                values[name] = value
            }
        }
        return .run(ProgramArguments(values: values, flags: flags, defaultBus: defaultBus))
    }

    var helpText: String {
        let width = options.map(\.label.count).max() ?? 0
        let lines = options.map { $0.helpLine(width: width) }.joined(separator: "\n")
        return "Usage: \(name) [options]\n\n\(abstract)\n\nOptions:\n\(lines)\n"
    }
}

public import ArgumentParser
import DBus
public import LocalAuthClient
import Localization

struct BusArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized(
                "The bus: system, session, or an address (default: where the service is installed, "
                    + "the system bus first)."
            ),
            valueName: "bus"
        ),
        completion: .list(["system", "session"])
    )
    var bus: String?
}

struct OutputArguments: ParsableArguments {
    @Flag(help: ArgumentHelp(localized("Write JSON.")))
    var json = false
}

struct OwnAgentArguments: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            localized("Never show a prompt on this terminal, even without an agent.")
        )
    )
    var noAgent = false
}

/// The user that a command is about, and whether it may prompt on this terminal.
struct PersonArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("For this user (root, or a user permitted by polkit)."),
            valueName: "uid"
        )
    )
    var uid: UInt32?

    @OptionGroup var agent: OwnAgentArguments

    var options: [String: Variant] {
        uid.map { ["uid": .uint32($0)] } ?? [:]
    }
}

extension AuthenticationPolicy: ExpressibleByArgument {
    var name: String {
        switch self {
        case .biometrics: "biometrics"
        case .biometricsOrPasscode: "biometrics-or-passcode"
        case .companion: "companion"
        case .biometricsOrCompanion: "biometrics-or-companion"
        }
    }

    public init?(argument: String) {
        let found = Self.allCases.first {
            $0.name == argument || String($0.rawValue) == argument
        }
        guard let found else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0.rawValue)|\($0.name)" } }

    /// Shells complete names only.
    public static var defaultCompletionKind: CompletionKind { .list(allCases.map(\.name)) }
}

extension BiometryStrength: ExpressibleByArgument {}

/// A time such as 30s, 2m or 500ms; a bare number is seconds.
struct TimeArgument: ExpressibleByArgument, Sendable {
    let milliseconds: UInt64

    init?(argument: String) {
        let units: [(suffix: String, factor: UInt64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("", 1000),
        ]
        guard
            let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            let number = UInt64(argument.dropLast(unit.suffix.count)), number > 0
        else { return nil }
        let (product, isTooLong) = number.multipliedReportingOverflow(by: unit.factor)
        guard !isTooLong else { return nil }
        milliseconds = product
    }
}

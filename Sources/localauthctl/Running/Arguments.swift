import ArgumentParser
import DBus
import Glibc
import Localization

/// Where the service is.
struct BusArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized(
                "The bus: system, session, or an address (default: system for root, else session)."
            ),
            valueName: "bus"
        )
    )
    var bus: String?

    var address: Connection.Address {
        Connection.Address(argument: bus ?? (geteuid() == 0 ? "system" : "session"))
    }
}

/// How the answer is written.
struct OutputArguments: ParsableArguments {
    @Flag(help: ArgumentHelp(localized("Write JSON.")))
    var json = false
}

/// For whom, and how a passcode can be asked for on the way.
struct PersonArguments: ParsableArguments {
    @Option(help: ArgumentHelp(localized("For this user (root only)."), valueName: "uid"))
    var uid: UInt32?

    @Flag(
        help: ArgumentHelp(localized("Never ask on this terminal, even if nothing else can ask."))
    )
    var noAgent = false

    var options: [String: Variant] {
        uid.map { ["uid": .uint32($0)] } ?? [:]
    }
}

/// What is asked for: a number or a name.
enum PolicyArgument: UInt32, ExpressibleByArgument, CaseIterable, Sendable {
    case biometrics = 1
    case biometricsOrPasscode = 2
    case companion = 3
    case biometricsOrCompanion = 4

    var name: String {
        switch self {
        case .biometrics: "biometrics"
        case .biometricsOrPasscode: "biometrics-or-passcode"
        case .companion: "companion"
        case .biometricsOrCompanion: "biometrics-or-companion"
        }
    }

    init?(argument: String) {
        let found = Self.allCases.first {
            $0.name == argument || String($0.rawValue) == argument
        }
        guard let found else { return nil }
        self = found
    }

    static var allValueStrings: [String] { allCases.map { "\($0.rawValue)|\($0.name)" } }
}

enum StrengthArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case strong
    case weak
    case convenience
}

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

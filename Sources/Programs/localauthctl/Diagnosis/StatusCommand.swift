import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: localized("Show whether you can authenticate now, and how.")
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        try perform(bus) { service in
            let status = try await ServiceStatus(service)
            if output.json { print(status.json.text) } else { status.print() }
        }
    }
}

private struct ServiceStatus {
    let version: String
    let type: UInt32
    let types: [UInt32]
    let interaction: Interaction
    let policies: [PolicyAnswer]
    let sensors: [RemoteSensor]

    @BusActor init(_ service: RemoteService) async throws {
        version = plainText(try await service.manager.version(), limit: 64)
        type = try await service.manager.biometryType()
        types = try await service.manager.biometryTypes()
        interaction = try await Interaction(service)
        var policies: [PolicyAnswer] = []
        for policy in AuthenticationPolicy.allCases {
            policies.append(try await PolicyAnswer(policy, service))
        }
        self.policies = policies
        sensors = try await service.plainSensors()
    }

    var json: JSON {
        .object([
            ("version", .string(version)),
            ("biometryType", .string(type == 0 ? "none" : biometryName(type))),
            ("biometryTypes", .array(types.map { .string(biometryName($0)) })),
            ("bus", .string(Advice.busName)),
            ("interactive", .bool(interaction.isPossible)),
            ("interaction", interaction.json),
            ("policies", .object(policies.map { ($0.policy.name, $0.json) })),
            ("sensors", .array(sensors.map(\.json))),
        ])
    }

    func print() {
        let names = types.map(biometryTitle).joined(separator: ", ")
        printTable([
            [localized("Version"), version],
            [localized("Biometry"), names.isEmpty ? localized("none") : names],
            [localized("Bus"), Advice.busName],
            [
                localized("Prompts"),
                interaction.isPossible
                    ? localized("yes") : localized("no: %1$s", interaction.sentence),
            ],
        ])
        if let advice = interaction.advice {
            Swift.print("  " + localized("Next: %1$s", Advice.complete(advice)))
        }
        Swift.print(localized("Policies"))
        printTable(policies.map(\.row), indent: "  ")
        Swift.print(localized("Sensors"))
        let rows =
            sensors.isEmpty
            ? [[localized("none")]] : [RemoteSensor.titles] + sensors.map(\.row)
        printTable(rows, indent: "  ")
    }
}

struct PolicyAnswer: Sendable {
    let policy: AuthenticationPolicy
    let isAvailable: Bool
    let code: Int32
    let message: String

    @BusActor init(_ policy: AuthenticationPolicy, _ service: RemoteService) async throws(DBusError)
    {
        let answer = try await RemoteService.retryingReadOnly { () throws(DBusError) in
            try await service.manager.canEvaluate(policy: policy.rawValue)
        }
        self.policy = policy
        isAvailable = answer.available
        code = answer.code
        message = plainText(answer.message, limit: 512)
    }

    var name: String? { isAvailable ? nil : errorName(code).map(shortName) }

    var json: JSON { .object(members) }

    func json(_ interaction: Interaction) -> JSON {
        .object(members + [("interaction", interaction.json)])
    }

    private var members: [(String, JSON)] {
        [
            ("policy", .int(Int64(policy.rawValue))), ("available", .bool(isAvailable)),
            ("code", .int(Int64(code))), ("name", name.map(JSON.string) ?? .null),
            ("message", .string(message)),
        ]
    }

    /// Why the policy is unavailable: the sentence, the error's name and its code.
    var sentence: String {
        "\(serviceText(message)) (\(name.map { $0 + ", " } ?? "")\(code))"
    }

    var row: [String] {
        [policy.name, isAvailable ? localized("yes") : localized("no: %1$s", sentence)]
    }
}

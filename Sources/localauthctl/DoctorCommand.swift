import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation.",
        discussion: "Exit status 1 when a check failed."
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        try perform(bus) { service in
            let checks = try await service.manager.diagnose().map(Check.init)
            if output.json {
                print(JSON.array(checks.map(\.json)).text)
            } else {
                printTable(checks.map { [$0.state, $0.name, $0.message] })
                for check in checks where check.state != "ok" && !check.remedy.isEmpty {
                    tell("\(check.name): \(check.remedy)")
                }
            }
            // A state that this version doesn't know is no "ok".
            guard checks.allSatisfy({ $0.state == "ok" || $0.state == "warning" }) else {
                throw ExitCode(Failure.Status.refused.rawValue)
            }
        }
    }
}

private struct Check {
    let name: String
    let state: String
    let message: String
    let remedy: String

    init(_ entry: [String: Variant]) {
        let text = { (key: String) in plainText(entry[key]?.asString ?? "", limit: 1024) }
        name = text("name")
        state = text("state")
        message = text("message")
        remedy = text("remedy")
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("state", .string(state)), ("message", .string(message)),
            ("remedy", .string(remedy)),
        ])
    }
}

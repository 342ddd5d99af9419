import AgentKit
import ArgumentParser
import DBus
import Glibc
import Linux
import LocalAuthBus
import LocalAuthClient
import Localization

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: localized("Check the installation."),
        discussion: localized("Exit status 1 when a check failed.")
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        let bus = bus.bus
        try performOnLoop {
            let service = try await Self.reach(bus)
            defer { service.connection.flush() }
            let checks = try await service.manager.diagnose().map(Check.init) + Check.cameras()
            if output.json {
                print(JSON.array(checks.map(\.json)).text)
            } else {
                printTable(checks.map { [stateTitle($0.state), $0.name, serviceText($0.message)] })
                for check in checks where check.state != "ok" && !check.remedy.isEmpty {
                    tell("\(check.name): \(Advice.complete(serviceText(check.remedy)))")
                }
            }
            // An unknown state of a later version counts as a failure.
            guard checks.allSatisfy({ $0.state == "ok" || $0.state == "warning" }) else {
                throw ExitCode(Failure.Status.refused.rawValue)
            }
        }
    }

    /// Without its bus policy the service can't own its name, so this is checked here.
    @BusActor private static func reach(_ bus: String?) async throws -> RemoteService {
        do throws(Failure) {
            return try await RemoteService.reach(bus)
        } catch {
            let file = "dbus-1/system.d/\(Authentication1.busName).conf"
            let isThere = ["/usr/share/", "/etc/"].contains { access($0 + file, R_OK) == 0 }
            guard Advice.address == .system || bus == "system", !isThere else { throw error }
            throw Failure(
                .unreachable,
                localized("The service can't be reached, and its bus policy is missing."),
                hint: localized("install %1$s, then reload the bus", "/usr/share/\(file)")
            )
        }
    }
}

private func stateTitle(_ state: String) -> String {
    switch state {
    case "ok": localized("ok")
    case "warning": localized("warning")
    case "failed": localized("failed")
    default: state
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

    private init(name: String, state: String, message: String) {
        (self.name, self.state, self.message, remedy) = (name, state, message, "")
    }

    /// Who has a camera open, among the processes that the person may look at: the service sees
    /// none of theirs.
    static func cameras() -> [Check] {
        FileHolder.all(of: Set((0..<64).map { "/dev/video\($0)" }))
            .map { holder in
                let program = plainText(holder.program, limit: 64)
                let message = localized(
                    "%1$s (process %2$s) has the camera %3$s open.",
                    program,
                    "\(holder.pid)",
                    holder.path
                )
                return Check(name: "camera", state: "ok", message: message)
            }
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("state", .string(state)), ("message", .string(message)),
            ("remedy", .string(remedy)),
        ])
    }
}

import AgentKit
import ArgumentParser
import DBus
import Glibc
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
            let checks =
                try await service.diagnose().map(DiagnosisLine.init) + DiagnosisLine.cameras()
                + DiagnosisLine.passkeys() + PAMFile.findings()
            if output.json {
                print(JSON.array(checks.map(\.json)).text)
            } else {
                let titles = [localized("STATE"), localized("CHECK"), localized("MESSAGE")]
                printTable(
                    [titles] + checks.map { [$0.stateTitle, $0.name, $0.title] }
                )
                // On standard output too, so that a redirected report is complete.
                for check in checks where check.needsRemedy {
                    printSentence("\(check.name): \(Advice.complete(check.advice))")
                }
            }
            // An unknown state of a later version counts as a failure.
            guard checks.allSatisfy({ $0.isPassed }) else {
                throw ExitCode(Failure.Status.refused.rawValue)
            }
        }
    }

    /// Reaches the service.
    ///
    /// Checks for its bus policy here, because the service can't own its name without it.
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

extension DiagnosisLine {
    var json: JSON {
        .object([
            ("name", .string(name)), ("state", .string(state)), ("message", .string(message)),
            ("remedy", .string(remedy)),
        ])
    }
}

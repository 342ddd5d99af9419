import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: localized("Make a sensor forget a template, or all of yours."),
        discussion: localized("Asks for your password first.")
    )

    @Argument(
        help: ArgumentHelp(localized("The template's id, as “localauthctl templates” shows it."))
    )
    var id: String?

    @Flag(help: ArgumentHelp(localized("Every template.")))
    var all = false

    @Option(help: ArgumentHelp(localized("Only on this sensor.")))
    var sensor: String?

    @OptionGroup var person: PersonArguments
    @OptionGroup var bus: BusArguments

    func validate() throws {
        guard (id == nil) == all else { throw ValidationError(localized("Give an id, or --all.")) }
    }

    func run() throws {
        let (id, name, person) = (id, sensor, person)
        try perform(bus) { service in
            let sensors =
                name == nil ? try await service.plainSensors() : [try await service.sensor(name)]
            let own = try await OwnAgent.start(service, person)
            onInterruption {
                own?.abort()
                onLoop { try? await service.manager.invalidate() }
            }
            do {
                let removed = try await remove(id, sensors, service, person.options)
                await own?.stop()
                print(
                    localizedCount(
                        "Removed %1$s template.",
                        "Removed %1$s templates.",
                        Int(removed)
                    )
                )
            } catch {
                await own?.stop()
                throw error
            }
        }
    }
}

@BusActor private func remove(
    _ id: String?,
    _ sensors: [RemoteSensor],
    _ service: RemoteService,
    _ options: [String: Variant]
) async throws -> UInt32 {
    var removed: UInt32 = 0
    for sensor in sensors {
        let templates = try await list(sensor, service, options, isOnly: sensors.count == 1)
        let device = service.device(at: sensor.path)
        if let id, let row = templates.first(where: { $0.id == id }) {
            if row.learnedFor == nil {
                try await device.removeTemplate(id: id, options: options)
            } else {
                try await device.removeLearned(id: id, options: options)
            }
            removed += 1
        } else if id == nil, !templates.isEmpty {
            removed += try await device.removeAllTemplates(options: options)
        }
    }
    guard removed > 0 || id == nil else {
        throw Failure(
            .refused,
            localized("The template does not exist."),
            hint: "localauthctl templates"
        )
    }
    return removed
}

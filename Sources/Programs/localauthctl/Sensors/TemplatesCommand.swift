import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct TemplatesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "templates",
        abstract: localized("List your fingerprints, faces and keys.")
    )

    @Option(help: ArgumentHelp(localized("Only this sensor.")))
    var sensor: String?

    @Option(
        help: ArgumentHelp(
            localized("The user (root, or a user permitted by polkit)."),
            valueName: "uid"
        )
    )
    var uid: UInt32?

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (name, output) = (sensor, output)
        let options: [String: Variant] = uid.map { ["uid": .uint32($0)] } ?? [:]
        try perform(bus) { service in
            let sensors =
                name == nil ? try await service.plainSensors() : [try await service.sensor(name)]
            var rows: [TemplateRow] = []
            for sensor in sensors {
                rows += try await list(sensor, service, options, isOnly: name != nil)
            }
            if output.json {
                print(JSON.array(rows.map(\.json)).text)
            } else if rows.isEmpty {
                print(localized("No template. Next: %1$s", Advice.complete("localauthctl enroll")))
            } else {
                let titles = [
                    localized("ID"), localized("SENSOR"), localized("CREATED"), localized("LABEL"),
                ]
                printTable([titles] + rows.map(\.row))
            }
        }
    }
}

/// A template, or an addition that a sensor made by itself.
struct TemplateRow: Sendable {
    let sensor: RemoteSensor
    let id: String
    let label: String
    let created: Int64
    /// The template that an addition belongs to; nil for a template.
    var learnedFor: String?

    var json: JSON {
        var fields: [(String, JSON)] = [
            ("sensor", .string(sensor.name)), ("id", .string(id)), ("label", .string(label)),
            ("created", .int(created)),
        ]
        if let learnedFor { fields.append(("learned-for", .string(learnedFor))) }
        return .object(fields)
    }

    var row: [String] {
        [id, sensor.name, day(created), plainText(serviceText(label), limit: 256)]
    }
}

/// Lists a sensor's templates, skipping an unavailable sensor unless `isOnly`.
@BusActor func list(
    _ sensor: RemoteSensor,
    _ service: RemoteService,
    _ options: [String: Variant],
    isOnly: Bool
) async throws(DBusError) -> [TemplateRow] {
    do {
        let device = service.device(at: sensor.path)
        let templates = try await device.listTemplates(options: options)
        guard !templates.isEmpty else { return [] }
        let learned = try await device.listLearned(options: options)
        return templates.flatMap { template in
            [
                TemplateRow(
                    sensor: sensor,
                    id: template.id,
                    label: template.label,
                    created: template.created
                )
            ]
                + learned.filter { $0.template == template.id }
                .map {
                    TemplateRow(
                        sensor: sensor,
                        id: $0.id,
                        label: localized("(added automatically)"),
                        created: $0.learned,
                        learnedFor: template.id
                    )
                }
        }
    } catch {
        guard isOnly || sensor.isAvailable else { return [] }
        throw error
    }
}

import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct EnrollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: localized("Teach a sensor to recognize you."),
        discussion: localized("Asks for your password first. Ctrl-C cancels.")
    )

    @Option(help: ArgumentHelp(localized("The sensor, when there are several.")))
    var sensor: String?

    @Option(help: ArgumentHelp(localized("A name for the template, such as “right thumb”.")))
    var label = ""

    @OptionGroup var person: PersonArguments
    @OptionGroup var bus: BusArguments

    func run() throws {
        let (sensor, label, person) = (sensor, label, person)
        try perform(bus) { service in
            let row = try await service.sensor(sensor)
            let device = service.device(at: row.path)
            let own = try await OwnAgent.start(service, person)
            tell(
                localized(
                    "Enrolling on %1$s (%2$s). Ctrl-C cancels.",
                    row.name,
                    biometryTitle(row.biometryType)
                )
            )
            let call = try device.enrollStream(label: label, options: person.options)
            onInterruption {
                own?.abort()
                onLoop { try? await device.cancelEnroll() }
            }
            onLoop {
                for await event in call.events { tell(event, row) }
            }
            let answer = await call.result()
            await own?.stop()
            let id = plainText(try answer.get(), limit: 256)
            print(localized("Enrolled on %1$s as %2$s.", row.name, id))
        }
    }
}

private func tell(_ event: StreamEvent, _ row: RemoteSensor) {
    switch SensorEventKind(rawValue: event.kind) {
    case .stage:
        guard let stage = event.detail["stage"]?.asUInt32 else { return }
        let stages = event.detail["stages"]?.asInt32 ?? -1
        tell(
            stages > 0
                ? localized("Stage %1$s of %2$s.", "\(stage)", "\(stages)")
                : localized("Stage %1$s.", "\(stage)")
        )
    case .busy:
        let busy = PromptProgress.sensorBusy(
            sensor: row.name,
            biometryType: row.biometryType,
            by: plainText(event.detail["by"]?.asString ?? "", limit: 64)
        )
        if let words = PromptText.sentence(busy) { tell(words) }
    case .ready:
        let ready = PromptProgress.sensorReady(sensor: row.name, biometryType: row.biometryType)
        if let words = PromptText.sentence(ready) { tell(words) }
    default:
        let progress = PromptProgress(kind: event.kind, detail: event.detail)
        if let words = progress.flatMap(PromptText.sentence) { tell(words) }
    }
}

import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus

struct EnrollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Teach a sensor to recognize you.",
        discussion: "Asks for your password first. Ctrl-C cancels."
    )

    @Option(help: "The sensor, when there are several.")
    var sensor: String?

    @Option(help: "A name for the template, such as “right thumb”.")
    var label = ""

    @OptionGroup var person: PersonArguments
    @OptionGroup var bus: BusArguments

    func run() throws {
        let (sensor, label, person) = (sensor, label, person)
        try perform(bus) { service in
            let row = try await service.sensor(sensor)
            let device = service.device(row)
            let own = try await OwnAgent.start(service, person)
            tell("Enrolling on \(row.name), a \(biometryName(row.type)) sensor. Ctrl-C cancels.")
            let call = try device.enrollStream(label: label, options: person.options)
            onInterruption {
                own?.abort()
                onLoop { try? await device.cancelEnroll() }
            }
            onLoop {
                for await event in call.events { tell(event) }
            }
            let answer = await call.result()
            await own?.stop()
            print("Enrolled on \(row.name) as \(plainText(try answer.get(), limit: 256)).")
        }
    }
}

private func tell(_ event: StreamEvent) {
    switch event.kind {
    case "stage":
        guard let stage = event.detail["stage"]?.asUInt32 else { return }
        let stages = event.detail["stages"]?.asInt32 ?? -1
        tell(stages > 0 ? "Stage \(stage) of \(stages)." : "Stage \(stage).")
    default:
        let progress = PromptProgress(kind: event.kind, detail: event.detail)
        if let words = progress.flatMap(PromptText.sentence) { tell(words) }
    }
}

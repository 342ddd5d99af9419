import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct EnrollCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: localized("Add a fingerprint, a face or a security key."),
        discussion: localized("Asks for your password first. Ctrl-C cancels.")
    )

    @Option(help: ArgumentHelp(localized("The sensor, when there are several.")))
    var sensor: String?

    @Option(help: ArgumentHelp(localized("A name for the template, for example “right thumb”.")))
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
                for await event in call.events {
                    if let words = enrollingSentence(event, of: row) { tell(words) }
                }
            }
            let answer = await call.result()
            await own?.stop()
            let id = plainText(try answer.get(), limit: 256)
            print(localized("Enrolled on %1$s as %2$s.", row.name, id))
        }
    }
}

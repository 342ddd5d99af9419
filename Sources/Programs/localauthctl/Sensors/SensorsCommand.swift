import ArgumentParser
import LocalAuthClient
import Localization

struct SensorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensors",
        abstract: localized("List the sensors.")
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        try perform(bus) { service in
            let sensors = try await service.plainSensors()
            if output.json {
                print(JSON.array(sensors.map(\.json)).text)
            } else if sensors.isEmpty {
                print(localized("No sensor."))
            } else {
                printTable([RemoteSensor.titles] + sensors.map(\.row))
            }
        }
    }
}

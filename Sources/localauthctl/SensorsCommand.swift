import ArgumentParser

struct SensorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensors",
        abstract: "List the sensors."
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        try perform(bus) { service in
            let sensors = try await service.sensors()
            if output.json {
                print(JSON.array(sensors.map(\.json)).text)
            } else if sensors.isEmpty {
                print("No sensor.")
            } else {
                let titles = ["NAME", "TYPE", "STRENGTH", "STATE", "DESCRIPTION"]
                printTable([titles] + sensors.map(\.row))
            }
        }
    }
}

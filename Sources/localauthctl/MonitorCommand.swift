import ArgumentParser
import DBus

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show what changes, until Ctrl-C.",
        discussion: "Shows programs that come and go, sensors and properties; never a prompt."
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (address, json) = (bus.address, output.json)
        try performAlone { end in
            let connection = try connect(address)
            connection.onDisconnect { end.with(Failure(.unreachable, "The bus is gone.")) }
            onInterruption { end.with(nil) }
            let monitor = Monitor(connection, json: json)
            monitor.start()
            return { monitor.stop() }
        }
    }
}

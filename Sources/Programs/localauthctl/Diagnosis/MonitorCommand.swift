import ArgumentParser
import DBus
import Localization

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: localized("Show evaluations and changes, until Ctrl-C."),
        discussion: localized(
            "Shows how evaluations end (your own; for root everybody's), programs that come and "
                + "go, sensors and properties; never a prompt, a reason or a secret."
        )
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (bus, json) = (bus.bus, output.json)
        try performAlone { end in
            let connection = try await connect(bus)
            connection.onDisconnect {
                end.with(Failure(.unreachable, localized("The bus is gone.")))
            }
            onInterruption { end.with(nil) }
            let monitor = Monitor(connection, json: json)
            monitor.start()
            return { monitor.stop() }
        }
    }
}

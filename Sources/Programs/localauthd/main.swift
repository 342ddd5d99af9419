import AuthService
import AuthStore
import DBus
import KeychainStore
import Linux
import ServiceProgram

ServiceProgram(
    name: "localauthd",
    abstract: "Decides whether a user is who they are, for every program on the bus.",
    options: [
        .value("state-directory", "DIR", help: "where counters, generations and keys are kept"),
        .value(
            "sensors",
            "FOLDERS",
            help: "what may be a sensor on the system bus, the first before the next",
            default: SensorDescriptions.standard.joined(separator: ":")
        ),
        .value("config", "FILE", help: "the settings (default: \(ConfigurationFile.standard))"),
        .flag(
            "refuse-on-mistake",
            help: "with a mistake in the settings, run and refuse every call until it is mended"
        ),
    ]
)
.main { connection, arguments in
    let file = ConfigurationFile(path: arguments["config"])
    var configuration = Configuration()
    var mistake: ConfigurationError?
    do throws(ConfigurationError) {
        configuration = try file.read()
    } catch {
        guard arguments.hasFlag("refuse-on-mistake") else { throw error }
        mistake = error
    }
    let directory = try StateDirectory.path(arguments["state-directory"])
    let (store, state) = try AuthStore.open(
        directory: directory,
        now: .now(),
        bootID: Boot.id() ?? "",
        settings: configuration.engineSettings(isSystemBus: connection.address == .system)
    )
    let folders = arguments["sensors"]?.split(separator: ":").map(String.init) ?? []
    let isSystemBus = connection.address == .system
    let service = AuthService(
        connection: connection,
        store: store,
        state: state,
        configuration: configuration,
        mistake: mistake,
        keychain: try Keychain(in: directory, itemLimit: configuration.itemsPerUser),
        sensorDescriptions: isSystemBus ? SensorDescriptions(folders: folders) : nil,
        shadowFile: isSystemBus ? "/etc/shadow" : nil,
        deviceRecords: isSystemBus ? DeviceRecords.folder : nil,
        rereadConfiguration: file.read
    )
    try await service.start()
    return RunningService(reload: { service.reload() }, stop: { await service.stop() })
}

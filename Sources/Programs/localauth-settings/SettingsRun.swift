#if Prompt
import DBus
import Glibc
import LocalAuthBus
import ServiceProgram
import Windows

@BusActor enum SettingsRun {
    static func start(_ connection: Connection) throws -> RunningService {
        guard Display.open(for: "localauth-settings", style: PackageResources.settings_css) else {
            throw StartError("there is no display")
        }
        let settings = Settings(connection)
        let window = try SettingsWindow(settings) {
            settings.stop()
            connection.flush()
            exit(EXIT_SUCCESS)
        }
        onLoop { await startAgent() }
        settings.start()
        return RunningService(stop: {
            settings.stop()
            window.close()
        })
    }

    /// Starts the agent, because adding and removing prompt for the password.
    static func startAgent() async {
        guard getenv("DBUS_SESSION_BUS_ADDRESS") != nil,
            let session = try? Connection(.session)
        else { return }
        // The diagnosis reports a failure.
        try? await session.startService("org.localauth.Agent1", timeout: .seconds(10))
        session.close()
    }
}
#endif

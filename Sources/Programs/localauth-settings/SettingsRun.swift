#if Prompt
import DBus
import Glibc
import LocalAuthBus
import ServiceProgram
import Windows

/// One run of the program.
@BusActor enum SettingsRun {
    /// Opens the display and the window.
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
        startAgent()
        settings.start()
        return RunningService(stop: {
            settings.stop()
            window.close()
        })
    }

    /// Teaching and removing ask for the password, which somebody has to show.
    private static func startAgent() {
        guard getenv("DBUS_SESSION_BUS_ADDRESS") != nil else { return }
        onLoop {
            guard let session = try? Connection(.session) else { return }
            // Where it can't be started, one that runs already does; else the service says so.
            try? await session.startService("org.localauth.Agent1", timeout: .seconds(10))
            session.close()
        }
    }
}
#endif

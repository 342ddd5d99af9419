import DBus
import ServiceProgram
import Windows

let program = ServiceProgram(
    name: "localauth-settings",
    abstract: "Adds and removes fingerprints, faces and security keys.",
    defaultBus: .system
)

#if Prompt
program.main(running: GLibLoop.run) { connection, _ in
    try SettingsRun.start(connection)
}
#else
program.main { _, _ in
    throw StartError("built without windows: GTK 4 and libadwaita were missing")
}
#endif

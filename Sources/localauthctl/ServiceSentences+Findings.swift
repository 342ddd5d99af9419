import Localization

/// What the service finds when it looks at itself.
extension ServiceSentences {
    /// Of sensors.
    static let sensorFindings = [
        marked("No lid is closed over a sensor."),
        marked("The lid is closed: built-in sensors can't be used."),
        marked("Open the lid, or dock with an external sensor."),
        marked("fprintd is there for the fingerprint sensor."),
        marked("The fingerprint sensor needs fprintd, and the bus does not know it."),
        marked("Install the package fprintd."),
        marked("No sensor is on the bus."),
        marked("Start a sensor, for example localauth-sensor-simulated."),
        marked("%1$s is failed: %2$s"),
        marked("%1$s is degraded: %2$s"),
        marked("it does not answer."),
        marked("%1$s can't be used: %2$s."),
        marked("Connect the device."),
        marked("Wait until the system is awake."),
        marked("Update the sensor or the service: they share no protocol version."),
        marked("Run the sensor as root or as the user of the service."),
        marked("Sit down at the machine: sensors are not for remote sessions."),
        marked("Restart the sensor and look into its log."),
        marked("Install the models of the sensor, or name their folder with its option --models."),
    ]

    /// Of the service and the user.
    static let findings = [
        marked("The service runs on the system bus."),
        marked("The service runs on a session bus: it keeps nothing from your own programs."),
        marked("Install the service for the system bus to protect secrets."),
        marked("The bus policy is installed."),
        marked("The bus policy %1$s is missing."),
        marked("Install it in %1$s, then reload the bus."),
        marked("Decisions are written to the journal."),
        marked("There is no journal: decisions are written to standard error."),
        marked("Run systemd-journald, or keep what the service says."),
        marked("Counters and generations are kept."),
        marked("The database was damaged and set aside as %1$s."),
        marked(
            "Give your passcode once (localauthctl evaluate --policy 2), then delete that "
                + "file."
        ),
        marked("Your account has a passcode."),
        marked("Your account has no passcode."),
        marked("No passcode verifier is on the bus."),
        marked("Set one with passwd."),
        marked("Start localauth-passcode."),
        marked("Too many wrong passcodes: none is taken for %1$s, until %2$s."),
        marked("Wait until %1$s, then give your passcode: localauthctl evaluate --policy 2."),
        marked("Give your passcode: localauthctl evaluate --policy 2."),
        marked("Wait until %1$s."),
        marked("You are in a remote session: sensors are not used."),
        marked("Sit down at the machine, or give your passcode: localauthctl agent."),
        marked("You are in session %1$s."),
        marked("You are in no active, unlocked session: nobody can be asked."),
        marked("Log in at the machine, or unlock the screen."),
        marked("You have 1 template on usable sensors."),
        marked("You have %1$s templates on usable sensors."),
        marked("Nothing of you is enrolled."),
        marked("Run localauthctl enroll."),
        marked("Biometry can be used."),
        marked("Set a passcode with passwd."),
        marked("Connect the sensor that knows you."),
        marked("Sit down at the machine."),
        marked("Connect or start a sensor."),
        marked("A prompt agent serves you."),
        marked("No prompt agent serves you."),
        marked("Start one: localauthctl agent."),
        marked("Nobody watches."),
        marked("Connections that watch: %1$s."),
    ]
}

import LocalAuthBus

extension Diagnosis {
    var lid: Check? {
        guard let isLidClosed else { return nil }
        if !isLidClosed { return ok("lid", "No lid is closed over a sensor.") }
        return Check(
            name: "lid",
            state: .warning,
            message: "The lid is closed: built-in sensors can't be used.",
            remedy: "Open the lid, or dock with an external sensor."
        )
    }

    var fprintd: Check? {
        guard let hasFprintd else { return nil }
        if hasFprintd { return ok("fprintd", "fprintd is there for the fingerprint sensor.") }
        return Check(
            name: "fprintd",
            state: .failed,
            message: "The fingerprint sensor needs fprintd, and the bus does not know it.",
            remedy: "Install the package fprintd."
        )
    }

    var sensorChecks: [Check] {
        guard !sensors.isEmpty else {
            return [
                Check(
                    name: "sensors",
                    state: .warning,
                    message: "No sensor is on the bus.",
                    remedy: isSystemBus
                        ? "Install a sensor: the package localauth-fingerprint or localauth-face."
                        : "Start a sensor, for example localauth-sensor-simulated."
                )
            ]
        }
        return sensors.map(Self.check)
    }

    private static func check(_ sensor: Sensor) -> Check {
        let name = "sensor " + sensor.name
        if sensor.unavailability == .noHardware, sensor.health?.state != .failed {
            return absence(of: sensor, name)
        }
        // The sensor's own message is more specific than the daemon's word for its state.
        if let health = sensor.health, health.state != .ok {
            let isUnusable = health.state == .failed || sensor.unavailability != nil
            return Check(
                name: name,
                state: isUnusable ? .failed : .warning,
                message: health.state == .degraded
                    ? "\(sensor.name) is degraded: \(health.message)"
                    : "\(sensor.name) is failed: \(health.message)",
                remedy: remedy(forHealth: health.message, of: sensor.name)
            )
        }
        if let distrust = sensor.distrust {
            return Check(
                name: name,
                state: .failed,
                message: "\(sensor.name) is not trusted: \(distrust)",
                remedy: "Correct the sensor's description or its user. localauthd(8) explains both."
            )
        }
        if let fault = sensor.fault {
            return Check(
                name: name,
                state: sensor.unavailability == nil ? .warning : .failed,
                message: "\(sensor.name) did something wrong: \(fault)",
                remedy: "Update the sensor. Its program breaks the protocol."
            )
        }
        if let complaint = sensor.complaint, sensor.unavailability == nil {
            return Check(
                name: name,
                state: .warning,
                message: "The last operation of \(sensor.name) failed: \(complaint)",
                remedy: remedy(forHealth: complaint, of: sensor.name)
            )
        }
        guard let unavailability = sensor.unavailability else {
            return Check(name: name, state: .ok, message: Sentence(quoting: sensor.description))
        }
        if unavailability == .starting {
            return Check(
                name: name,
                state: .warning,
                message: "\(sensor.name) is still starting.",
                remedy: remedy(for: .starting, of: sensor.name)
            )
        }
        return Check(
            name: name,
            state: isExpected(unavailability) ? .warning : .failed,
            message: "\(sensor.name) can't be used: \(unavailability.rawValue).",
            remedy: remedy(for: unavailability, of: sensor.name)
        )
    }

    /// Reports missing hardware as ok for a user without templates: many machines have no camera or
    /// reader.
    private static func absence(of sensor: Sensor, _ name: String) -> Check {
        guard sensor.templates > 0 else {
            return Check(
                name: name,
                state: .ok,
                message: "\(sensor.name) has no device on this machine."
            )
        }
        return Check(
            name: name,
            state: .warning,
            message: "You use \(sensor.name), and its device is not connected.",
            remedy: remedy(for: .noHardware, of: sensor.name)
        )
    }

    /// Whether the sensor is unavailable because of the machine's state, and not because of a
    /// fault.
    private static func isExpected(_ unavailability: Unavailability) -> Bool {
        [.lidClosed, .suspended, .remoteSession].contains(unavailability)
    }

    private static func remedy(for unavailability: Unavailability, of name: String) -> Sentence {
        switch unavailability {
        case .starting: "Ask again in a moment."
        case .lidClosed: "Open the lid, or dock with an external sensor."
        case .suspended: "Wait until the system is awake."
        case .incompatible: "Update the sensor or the service: they share no protocol version."
        case .untrusted: "Run the sensor as root or as the user of the service."
        case .remoteSession: "Sit down at the machine: sensors are not for remote sessions."
        case .noHardware: "Plug the device in, or switch it on in the firmware's settings."
        case .crashed, .failed:
            "The service starts the sensor again. For the cause, run journalctl -u "
                + "\(unit(of: name))."
        }
    }

    /// The systemd unit of a sensor, by this project's naming.
    private static func unit(of name: String) -> String {
        // A single program serves all fingerprint readers.
        let program = name.hasPrefix("Fingerprint") ? "fingerprint" : name.lowercased()
        return "localauth-sensor-\(program)"
    }

    /// Remedies by a word in the sensor's message; the first match applies.
    private static let remedies: [(word: String, remedy: Sentence)] = [
        ("enrolled", "Enrol again: localauthctl enroll."),
        (" use ", closeProgram),
        (" uses ", closeProgram),
        ("PipeWire", "Set up PipeWire for the system, or name another camera with --camera."),
        (
            "model",
            "Install the models of the sensor, or name their folder with its option --models."
        ),
        ("polkit", "Install 50-localauth-fingerprint.rules in /usr/share/polkit-1/rules.d."),
        ("virtual", nameCamera),
        (" video ", nameCamera),
        ("takes", nameCamera),
        ("infrared", "Name an infrared camera with --camera, or leave the option --infrared out."),
        ("udev", "Start udev, then plug the camera in again."),
        (
            "USB",
            "Connect a USB camera, or let the system's PipeWire offer this camera. The sensor can "
                + "identify no other camera again."
        ),
        ("format", useCamera),
        ("pixels", useCamera),
        ("broken", lookAtCable),
        ("gives", lookAtCable),
        (
            "denied",
            "Give the sensor's user access to the device. For a camera, add the group "
                + "video."
        ),
        ("hook", "Correct the program that the option --pre-open-hook names."),
        ("face.key", "Restore that key, or remove the templates and enrol again."),
        ("damaged", "Remove that template and enrol again: localauthctl templates."),
        ("installed", "Install the package fprintd."),
        ("several", "Unplug the reader and plug it in again, or restart the machine."),
        ("suspend", "Leave the reader alone for half a minute."),
        ("fprintd", "Try again. For the messages of fprintd, run journalctl -u fprintd."),
        ("connected", "Plug the device in, or switch it on in the firmware's settings."),
    ]
    private static let closeProgram: Sentence =
        "Close that program, or wait until the device is free."
    private static let nameCamera: Sentence =
        "Name a camera of the machine with the sensor's option --camera."
    private static let useCamera: Sentence =
        "Use a camera with YUYV, NV12, I420, MJPG or GREY pictures."
    private static let lookAtCable: Sentence =
        "Open the camera's shutter or switch it on, plug it in again, or try another cable."

    static func remedy(forHealth message: String, of name: String) -> Sentence {
        remedies.first { message.contains($0.word) }?.remedy
            ?? "Try again. For more messages, run journalctl -u \(unit(of: name))."
    }
}

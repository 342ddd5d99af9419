import LocalAuthBus

/// What is right and wrong with the hardware.
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
                    remedy: "Start a sensor, for example localauth-sensor-simulated."
                )
            ]
        }
        return sensors.map(Self.check)
    }

    private static func check(_ sensor: Sensor) -> Check {
        let name = "sensor " + sensor.name
        // Many machines have no camera, or no reader: that is how they are.
        if sensor.unavailability == .noHardware, sensor.health?.state != .failed {
            return Check(
                name: name,
                state: .ok,
                message: "\(sensor.name) has no device on this machine."
            )
        }
        // What the sensor says itself tells more than one word of ours.
        if let health = sensor.health, health.state != .ok {
            let isUnusable = health.state == .failed || sensor.unavailability != nil
            return Check(
                name: name,
                state: isUnusable ? .failed : .warning,
                message: health.state == .degraded
                    ? "\(sensor.name) is degraded: \(health.message)"
                    : "\(sensor.name) is failed: \(health.message)",
                remedy: remedy(forHealth: health.message)
            )
        }
        if let distrust = sensor.distrust {
            return Check(
                name: name,
                state: .failed,
                message: "\(sensor.name) is not trusted: \(distrust)",
                remedy: "Correct what describes the sensor, as localauthd(8) says, or its user."
            )
        }
        guard let unavailability = sensor.unavailability else {
            return Check(name: name, state: .ok, message: sensor.description)
        }
        if unavailability == .starting {
            return Check(
                name: name,
                state: .warning,
                message: "\(sensor.name) is still starting.",
                remedy: remedy(for: .starting)
            )
        }
        return Check(
            name: name,
            state: isExpected(unavailability) ? .warning : .failed,
            message: "\(sensor.name) can't be used: \(unavailability.rawValue).",
            remedy: remedy(for: unavailability)
        )
    }

    /// Whether it is the machine's state, and nothing is broken.
    private static func isExpected(_ unavailability: Unavailability) -> Bool {
        [.lidClosed, .suspended, .remoteSession].contains(unavailability)
    }

    private static func remedy(for unavailability: Unavailability) -> String {
        switch unavailability {
        case .starting: "Ask again in a moment."
        case .lidClosed: "Open the lid, or dock with an external sensor."
        case .suspended: "Wait until the system is awake."
        case .incompatible: "Update the sensor or the service: they share no protocol version."
        case .untrusted: "Run the sensor as root or as the user of the service."
        case .remoteSession: "Sit down at the machine: sensors are not for remote sessions."
        case .crashed, .failed, .noHardware: "Restart the sensor and look into its log."
        }
    }

    /// A face sensor says in `Health` that its models are missing.
    private static func remedy(forHealth message: String) -> String {
        message.lowercased().contains("model")
            ? "Install the models of the sensor, or name their folder with its option --models."
            : "Restart the sensor and look into its log."
    }
}

import AuthEngine
import DBus

/// What is right and wrong with the service, seen by one caller.
@BusActor
struct Diagnosis {
    /// One finding.
    struct Check {
        /// How bad it is.
        enum State: String {
            case ok
            case warning
            case failed
        }

        let name: String
        let state: State
        let message: String
        /// What to do; empty when nothing is wrong.
        var remedy = ""

        /// As the contract has it.
        var wire: [String: Variant] {
            [
                "name": .string(name), "state": .string(state.rawValue),
                "message": .string(message), "remedy": .string(remedy),
            ]
        }
    }

    let service: AuthService
    let peer: Peer

    /// Every check, in the order in which an evaluation would fail.
    func checks() async -> [Check] {
        let process = CallerProcess(pid: peer.pid)
        let facts = await service.facts(uid: peer.uid, processes: process.lineage)
        return [bus, state, passcode(facts)] + sensors(facts)
            + [enrolment(facts), biometry(facts), agent(facts)]
    }

    private var bus: Check {
        if service.isSystemBus {
            return Check(name: "bus", state: .ok, message: "The service runs on the system bus.")
        }
        return Check(
            name: "bus",
            state: .warning,
            message: "The service runs on a session bus: it keeps nothing from your own programs.",
            remedy: "Install the service for the system bus to protect secrets."
        )
    }

    private var state: Check {
        guard let path = service.setAside else {
            return Check(name: "state", state: .ok, message: "Counters and generations are kept.")
        }
        return Check(
            name: "state",
            state: .failed,
            message: "The database was damaged and set aside as \(path).",
            remedy:
                "Give your passcode once (localauthctl evaluate --policy 2), then delete that file."
        )
    }

    private func passcode(_ facts: Facts) -> Check {
        if facts.isPasscodeSet {
            return Check(name: "passcode", state: .ok, message: "Your account has a passcode.")
        }
        if service.verifier.owner == nil {
            return Check(
                name: "passcode",
                state: .failed,
                message: "No passcode verifier is on the bus.",
                remedy: "Start localauth-passcode."
            )
        }
        return Check(
            name: "passcode",
            state: .failed,
            message: "Your account has no passcode.",
            remedy: "Set one with passwd."
        )
    }

    private func sensors(_ facts: Facts) -> [Check] {
        let sensors = service.directory.sorted
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
        return sensors.map { sensor in
            let name = "sensor \(sensor.name)"
            if sensor.isUsable {
                return Check(name: name, state: .ok, message: sensor.facts.description)
            }
            return Check(
                name: name,
                state: .failed,
                message: "\(sensor.name) can't be used: \(sensor.unavailability).",
                remedy: Self.remedy(for: sensor.unavailability)
            )
        }
    }

    private static func remedy(for unavailability: String) -> String {
        switch unavailability {
        case "no-hardware": "Connect the device."
        case "lid-closed": "Open the lid, or dock with an external sensor."
        case "suspended": "Wait until the system is awake."
        case "incompatible": "Update the sensor or the service: they share no protocol version."
        case "untrusted": "Run the sensor as root or as the user of the service."
        case "remote-session": "Sit down at the machine: sensors are not for remote sessions."
        default: "Restart the sensor and look into its log."
        }
    }

    private func enrolment(_ facts: Facts) -> Check {
        let count = facts.sensors.filter { $0.availability == .usable }
            .reduce(0) { $0 + $1.templates }
        if count > 0 {
            return Check(
                name: "enrolment",
                state: .ok,
                message: "You have \(count) template\(count == 1 ? "" : "s") on usable sensors."
            )
        }
        return Check(
            name: "enrolment",
            state: .warning,
            message: "Nothing of you is enrolled.",
            remedy: "Run localauthctl enroll."
        )
    }

    private func biometry(_ facts: Facts) -> Check {
        let refusal = service.engine.availability(
            .biometrics,
            uid: peer.uid,
            facts: facts,
            context: nil,
            at: service.now
        )
        guard let refusal else {
            return Check(name: "biometry", state: .ok, message: "Biometry can be used.")
        }
        let remedy: String
        switch refusal.code {
        case .biometryLockout: remedy = "Give your passcode: localauthctl evaluate --policy 2."
        case .biometryNotEnrolled: remedy = "Run localauthctl enroll."
        case .passcodeNotSet: remedy = "Set a passcode with passwd."
        default: remedy = "Connect or start a sensor."
        }
        return Check(name: "biometry", state: .warning, message: refusal.message, remedy: remedy)
    }

    private func agent(_ facts: Facts) -> Check {
        let hasAgent = facts.session.map {
            service.engine.hasAgent(uid: peer.uid, session: $0, processes: facts.processes)
        }
        if hasAgent == true {
            return Check(name: "agent", state: .ok, message: "A prompt agent serves you.")
        }
        return Check(
            name: "agent",
            state: .failed,
            message: "No prompt agent serves you.",
            remedy: "Start one: localauthctl agent."
        )
    }
}

import AuthEngine
import DBus
import LocalAuthBus

/// The state of a sensor that clients can see.
struct SensorAppearance: Equatable {
    var facts: SensorProperties
    var isKnown: Bool
    var reason: Unavailability?
    var distrust: String?
}

/// The state of the sensor for the other parts of the daemon.
extension SensorProcess {
    var owner: String? { service.owner }

    var state: SupervisedService.State { service.state }

    /// Whether `facts` come from a trusted sensor with a common protocol version, now or earlier.
    var isKnown: Bool { service.isKnown }

    /// Whether the sensor is starting and will answer or fail soon.
    var isStarting: Bool { service.isStarting }

    /// Why the owner is not trusted, as text for people; nil if it is trusted.
    var distrust: String? {
        if case .broken(.untrusted(let reason)) = state { reason } else { nil }
    }

    var proxy: Sensor1Proxy? {
        owner.map { Sensor1Proxy(service.connection, destination: $0, path: Sensor1.path) }
    }

    var unavailability: Unavailability? {
        switch state {
        case .probing: .starting
        case .broken: brokenReason
        case .removed: .noHardware
        case .ready, .leaving, .asleep:
            if let reason = facts.unavailability {
                reason
            } else {
                facts.isPresent ? surroundings.unavailability(of: facts) : .noHardware
            }
        }
    }

    /// Why the process can't be called; nil if it can, or may soon.
    var brokenReason: Unavailability? {
        if case .broken(let absence) = state { Unavailability(absence) } else { nil }
    }

    var appearance: SensorAppearance {
        SensorAppearance(facts: facts, isKnown: isKnown, reason: unavailability, distrust: distrust)
    }

    var isUsable: Bool { unavailability == nil }

    /// Whether the sensor or its device is missing.
    var isAway: Bool {
        switch state {
        case .asleep, .leaving, .ready: !facts.isPresent
        case .probing, .broken, .removed: owner == nil
        }
    }

    /// Whether the sensor sleeps or is about to, and so can't announce changes.
    var isAsleep: Bool { state == .asleep || state == .leaving }

    /// Whether the sensor itself reports that it can't be used.
    var reportsObstacle: Bool { !facts.isPresent || facts.unavailability != nil }

    /// Whether a device may have been connected since the sensor last described itself.
    private var hasNewDevices: Bool {
        guard let devicesSeen, let now = devices?.changes else { return true }
        return now != devicesSeen
    }

    /// Whether a sleeping sensor that reported an obstacle may be usable again: the obstacle was
    /// not a missing device, or a device may have been connected since.
    var mayHaveRecovered: Bool {
        isAsleep && reportsObstacle && (unavailability != .noHardware || hasNewDevices)
    }

    /// Whether the sensor can list templates, even if it can't verify because of a closed lid,
    /// imminent sleep, or its own report.
    var canList: Bool {
        switch state {
        case .ready, .leaving, .asleep: facts.isPresent
        case .probing, .broken, .removed: false
        }
    }

    /// Whether the sensor has its device, and is not called only because of a failure.
    var isInBackOff: Bool {
        let isExcluded = brokenReason == .untrusted || brokenReason == .incompatible
        return facts.isPresent && !isAway && !isExcluded
    }

    /// Whether the sensor has exited for a reason that is unknown so far.
    var isLeaving: Bool { state == .leaving }

    // MARK: - Waking

    /// Returns a proxy of the sensor, started if it sleeps; nil if it can't be used.
    func awake() async -> Sensor1Proxy? {
        let proxy = await awakeToList()
        return isUsable ? proxy : nil
    }

    /// Returns a proxy of the sensor, started if it sleeps; nil if it can't list templates.
    func awakeToList() async -> Sensor1Proxy? {
        await service.departure?.value
        if state == .asleep { service.start() }
        await service.settled()
        return state == .ready && canList ? proxy : nil
    }
}

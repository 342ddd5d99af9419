import AuthEngine
import DBus
import LocalAuthBus

/// The public view of a sensor.
struct SensorAppearance: Equatable {
    var facts: SensorProperties
    var isKnown: Bool
    var reason: Unavailability?
    var distrust: String?
}

/// The state as users of the sensor see it.
extension SensorProcess {
    /// The unique name of the connection that owns the sensor's name.
    var owner: String? { service.owner }

    var state: SupervisedService.State { service.state }

    /// Whether `facts` are what a trusted sensor of a common version said, now or before.
    var isKnown: Bool { service.isKnown }

    /// Whether the sensor is about to answer: neither there yet nor absent.
    var isStarting: Bool { service.isStarting }

    /// Why the owner is not trusted, for people; nil: it is.
    var distrust: String? {
        if case .broken(.untrusted(let reason)) = state { reason } else { nil }
    }

    /// The proxy of the owner; nil: none is there.
    var proxy: Sensor1Proxy? {
        owner.map { Sensor1Proxy(service.connection, destination: $0, path: Sensor1.path) }
    }

    /// Why the sensor can't be used; nil: it can.
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

    /// Why the program can't be called; nil when it can, or is expected.
    var brokenReason: Unavailability? {
        if case .broken(let absence) = state { Unavailability(absence) } else { nil }
    }

    var appearance: SensorAppearance {
        SensorAppearance(facts: facts, isKnown: isKnown, reason: unavailability, distrust: distrust)
    }

    var isUsable: Bool { unavailability == nil }

    /// Whether the sensor is not there at all.
    var isAway: Bool {
        switch state {
        case .asleep, .leaving, .ready: !facts.isPresent
        case .probing, .broken, .removed: owner == nil
        }
    }

    /// Whether the sensor sleeps, or is about to, and can't tell of changes.
    var isAsleep: Bool { state == .asleep || state == .leaving }

    /// Whether the sensor itself said that it can't be used.
    var saidNo: Bool { !facts.isPresent || facts.unavailability != nil }

    /// Whether a device may have come since the sensor said what it is.
    private var hasNewDevices: Bool {
        guard let devicesSeen, let now = devices?.changes else { return true }
        return now != devicesSeen
    }

    /// Whether that may be over since the sensor fell asleep: the cause was not a missing device,
    /// or a device may have come since.
    var mayHaveRecovered: Bool {
        isAsleep && saidNo && (unavailability != .noHardware || hasNewDevices)
    }

    /// Whether the sensor can list templates, even if it can't look now: under a closed lid, on the
    /// way to sleep, or because it says so itself.
    var canList: Bool {
        switch state {
        case .ready, .leaving, .asleep: facts.isPresent
        case .probing, .broken, .removed: false
        }
    }

    /// Whether the sensor has its device, and isn't called only because it failed.
    var isLeftAlone: Bool {
        let isExcluded = brokenReason == .untrusted || brokenReason == .incompatible
        return facts.isPresent && !isAway && !isExcluded
    }

    /// Whether the sensor is gone, and how it ended is not known yet.
    var isLeaving: Bool { state == .leaving }

    // MARK: - Awake

    /// Returns the proxy of the sensor, woken first if it sleeps; nil: it can't be used.
    func awake() async -> Sensor1Proxy? {
        let proxy = await awakeToList()
        return isUsable ? proxy : nil
    }

    /// Returns the proxy of the sensor, woken first if it sleeps; nil: it can't list templates.
    func awakeToList() async -> Sensor1Proxy? {
        await service.departure?.value
        if state == .asleep { service.start() }
        await service.settled()
        return state == .ready && canList ? proxy : nil
    }
}

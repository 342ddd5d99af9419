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

/// What its state means for those who want to use it.
extension SensorProcess {
    var appearance: SensorAppearance {
        SensorAppearance(facts: facts, isKnown: isKnown, reason: unavailability, distrust: distrust)
    }

    var isUsable: Bool { unavailability == nil }

    /// Whether it is not there at all.
    var isAway: Bool {
        switch state {
        case .asleep, .leaving, .ready: !facts.isPresent
        case .probing, .broken: owner == nil
        }
    }

    /// Whether it sleeps, or is about to: what changes meanwhile, it can't tell.
    var isAsleep: Bool { state == .asleep || state == .leaving }

    /// Whether what it said of itself is why it can't be used.
    var saidNo: Bool { !facts.isPresent || facts.unavailability != nil }

    /// Whether a device may have come since it said what it is.
    private var hasNewDevices: Bool {
        guard let devicesSeen, let now = devices?.changes else { return true }
        return now != devicesSeen
    }

    /// Whether that was before it fell asleep, and may be over: it wanted something else than a
    /// device, or one may have been plugged in since.
    var mayHaveRecovered: Bool {
        isAsleep && saidNo && (unavailability != .noHardware || hasNewDevices)
    }

    /// Whether it can say whom it knows, though nothing may look there now: under a closed lid, on
    /// the way to sleep, or because it says so itself.
    var canList: Bool {
        switch state {
        case .ready, .leaving, .asleep: facts.isPresent
        case .probing, .broken: false
        }
    }

    /// Whether it is there with its device, and isn't called only because it failed.
    var isLeftAlone: Bool {
        let isExcluded = state == .broken(.untrusted) || state == .broken(.incompatible)
        return facts.isPresent && !isAway && !isExcluded
    }

    /// Whether it is gone, and how it ended is not known yet.
    var isLeaving: Bool { state == .leaving }

    // MARK: - Awake

    /// What it can be asked through, once it is awake: one that sleeps is woken first.
    ///
    /// - Returns: nil when it can't be used.
    func awake() async -> Sensor1Proxy? {
        let proxy = await awakeToList()
        return isUsable ? proxy : nil
    }

    /// The same for the question whom it knows, which one answers that nothing may look at now.
    func awakeToList() async -> Sensor1Proxy? {
        await departure?.value
        if state == .asleep { start() }
        await settled()
        return state == .ready && canList ? proxy : nil
    }
}

import AuthEngine
import DBus

/// What its state means for those who want to use it.
extension SensorProcess {
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

    /// Whether that was before it fell asleep: a device may have been plugged in since.
    var mayHaveRecovered: Bool { isAsleep && saidNo }

    /// Whether it is gone, and how it ended is not known yet.
    var isLeaving: Bool { state == .leaving }
}

import AuthEngine
import LocalAuthBus

/// What happens to the machine that its sensors are part of (L3, L4).
struct Surroundings: Equatable {
    var isSuspended = false
    var isLidClosed = false
    /// Docked, or with an external display: a sensor may be outside.
    var isDocked = false

    /// Why such a sensor can't be used in them; nil when it can.
    func unavailability(of sensor: SensorProperties) -> Unavailability? {
        if isSuspended { return .suspended }
        // A companion is in somebody's hand, and an external sensor beside the machine.
        guard isLidClosed, sensor.type != .none else { return nil }
        return sensor.isBuiltIn ?? !isDocked ? .lidClosed : nil
    }
}

import AuthEngine
import LocalAuthBus

/// The state of the machine as far as its sensors depend on it (L3, L4).
struct Surroundings: Equatable {
    var isSuspended = false
    var isLidClosed = false
    /// Docked, or with an external display, so that a sensor may be outside the lid.
    var isDocked = false

    /// Why a sensor can't be used in this state; nil if it can.
    func unavailability(of sensor: SensorProperties) -> Unavailability? {
        if isSuspended { return .suspended }
        // A companion is in a person's hand, and an external sensor is beside the machine.
        guard isLidClosed, sensor.type != .none else { return nil }
        return sensor.isBuiltIn ?? !isDocked ? .lidClosed : nil
    }
}

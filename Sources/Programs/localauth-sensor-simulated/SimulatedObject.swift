import DBus
import Glibc
import LocalAuthBus
import SensorKit

/// `org.localauth.SimulatedSensor1`: lets a test control the sensor.
@BusActor final class SimulatedObject: SimulatedSensor1Service {
    static let maximumLabel = 256

    private unowned let sensor: SimulatedSensor

    init(_ sensor: SimulatedSensor) {
        self.sensor = sensor
    }

    func queue(outcomes: [String], call: IncomingCall) throws(DBusError) -> Answer<Void> {
        try check(call)
        guard sensor.pending.count + outcomes.count <= SimulatedSensor.maximumPending else {
            throw DBusError(
                .limitsExceeded,
                "At most \(SimulatedSensor.maximumPending) outcomes are queued."
            )
        }
        var parsed: [Outcome] = []
        for word in outcomes {
            guard let outcome = Outcome(word) else {
                throw DBusError(.invalidArgs, "'\(word)' is no outcome.")
            }
            parsed.append(outcome)
        }
        sensor.queue(parsed)
        return .now(())
    }

    func touch(matching: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        try check(call)
        sensor.touch(matching: matching)
        return .now(())
    }

    func setPresent(present: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        try check(call)
        sensor.setPresent(present)
        return .now(())
    }

    func setBiometryType(
        biometryType: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try check(call)
        guard let type = SensorProperties.BiometryType(rawValue: biometryType) else {
            throw DBusError(.invalidArgs, "\(biometryType) is no biometry type.")
        }
        sensor.properties.biometryType = type
        sensor.host.propertiesChanged()
        return .now(())
    }

    func setStrength(strength: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        try check(call)
        guard let strength = SensorProperties.Strength(rawValue: strength) else {
            throw DBusError(.invalidArgs, "A strength is strong, weak or convenience.")
        }
        sensor.properties.strength = strength
        sensor.host.propertiesChanged()
        return .now(())
    }

    func addTemplate(
        uid: UInt32,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        try check(call)
        guard uid != .max, label.utf8.count <= Self.maximumLabel else {
            throw DBusError(.invalidArgs, "The uid is no user, or the label is too long.")
        }
        guard sensor.templates(of: uid).count < Int(sensor.properties.maximumTemplates) else {
            throw DBusError(.sensorFull, "There is no room for another template.")
        }
        guard let id = try? sensor.enrolled.add(for: uid, label: label) else {
            throw DBusError(.failed, "The template can't be kept.")
        }
        sensor.host.templatesChanged(of: uid)
        return .now(id)
    }

    func reset(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        try check(call)
        sensor.reset()
        return .now(())
    }

    func pending(for peer: Peer?) -> [String] { sensor.pending.map(\.word) }

    /// Refuses callers other than root and, off the system bus, the sensor's user.
    ///
    /// A caller that controls this sensor decides who is authenticated.
    private func check(_ call: IncomingCall) throws(DBusError) {
        let uid = call.peer.uid
        let isSystem = sensor.host.connection.address == .system
        guard uid == 0 || (!isSystem && uid == geteuid()) else {
            throw DBusError(.accessDenied, "Only root or the sensor's own user may drive it.")
        }
    }
}

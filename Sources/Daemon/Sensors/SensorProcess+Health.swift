import AuthEngine
import AuthStore
import BusGuard
import Contract
import DBus
import LocalAuthBus

extension SensorProcess {
    typealias Health = (state: String, message: String)

    /// Queries the sensor's health; concurrent callers share a query.
    func health(_ proxy: Sensor1Proxy) async throws(DBusError) -> Health {
        let owner = proxy.destination
        return try await healths.share(owner) { await self.askHealth(owner) }.get()
    }

    private func askHealth(_ owner: String) async -> Result<Health, DBusError> {
        let proxy = Sensor1Proxy(service.connection, destination: owner, path: Sensor1.path)
        do throws(DBusError) {
            let health = try await lanes.run(.questions, for: CallBudget.service) {
                () throws(DBusError) in
                try await self.asked { () throws(DBusError) in
                    try await proxy.health(timeout: Self.patience)
                }
            }
            return .success(health)
        } catch {
            return .failure(error)
        }
    }

    /// Records why a user's operation was refused, or nil after a success.
    func complain(_ reason: String?, of uid: UInt32) {
        if complaints.count >= Self.mostComplaints { complaints = [:] }
        complaints[uid] = reason
    }

    private static let mostComplaints = 1024

    /// Queries the sensor, and again if the bus itself is slow, because then the sensor is not at
    /// fault.
    ///
    /// Otherwise a neighbour that floods the bus with large calls would make all sensors fail.
    func asked<Value>(
        _ question: @BusActor () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        let end = Instant.now() + Self.longestDelay
        while true {
            do throws(DBusError) {
                return try await question()
            } catch {
                guard error.name == .noReply, owner != nil, Instant.now() < end,
                    await service.connection.isLate(by: Self.lateness)
                else { throw error }
            }
        }
    }

    /// The time after which a slow bus is no excuse for the sensor.
    private static let longestDelay = Duration.seconds(8)
    /// The time that makes the bus count as slow; a sensor's answer takes several times as long as
    /// the bus's.
    private static let lateness = Duration.milliseconds(200)

    var refusal: DBusError {
        guard let cause = unavailability?.rawValue else {
            return DBusError(.biometryNotAvailable, "The sensor \(name) can't be used now.")
        }
        return DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(cause))."
        )
    }

    /// Returns the error with the sensor's own reason.
    func explainedRefusal() async -> DBusError {
        let refusal = refusal
        guard [.ready, .broken(.failed)].contains(state), let proxy,
            let health = try? await health(proxy), health.state != HealthState.ok.rawValue,
            let reason = DisplayText.reason(health.message)
        else { return refusal }
        guard let cause = unavailability?.rawValue else {
            return DBusError(
                .biometryNotAvailable,
                "The sensor \(name) can't be used now: \(reason)"
            )
        }
        return DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(cause)): \(reason)"
        )
    }
}

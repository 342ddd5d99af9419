import AuthEngine
import AuthStore
import BusGuard
import Contract
import DBus
import LocalAuthBus

extension SensorProcess {
    /// The answer of `Health`.
    typealias Health = (state: String, message: String)

    /// Asks the sensor how it is; callers share a question.
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

    /// Notes that an operation of a user was refused, or, without a reason, that it worked.
    func complain(_ reason: String?, of uid: UInt32) {
        if complaints.count >= Self.mostComplaints { complaints = [:] }
        complaints[uid] = reason
    }

    private static let mostComplaints = 1024

    /// Asks the sensor, and again if the bus itself answers late: the sensor is not at fault then.
    ///
    /// A neighbour that floods the bus with large calls would make all sensors fail otherwise.
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

    /// Time after which a late bus is no excuse for the sensor.
    private static let longestDelay = Duration.seconds(8)
    /// Time after which an answer of the bus is late; an answer of a sensor takes several times as
    /// long.
    private static let lateness = Duration.milliseconds(200)

    /// The refusal while the sensor can be asked nothing.
    var refusal: DBusError {
        DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(unavailability.wire))."
        )
    }

    /// The refusal with the reason that the sensor gives.
    func explainedRefusal() async -> DBusError {
        let refusal = refusal
        guard [.ready, .broken(.failed)].contains(state), let proxy,
            let health = try? await health(proxy), health.state != HealthState.ok.rawValue,
            let reason = DisplayText.reason(health.message)
        else { return refusal }
        return DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(unavailability.wire)): \(reason)"
        )
    }
}

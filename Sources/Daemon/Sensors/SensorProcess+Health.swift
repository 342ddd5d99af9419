import AuthEngine
import AuthStore
import BusGuard
import DBus
import LocalAuthBus

extension SensorProcess {
    /// What a sensor says of how it is.
    typealias Health = (state: String, message: String)

    /// Asks it how it is; several that want to know share one question.
    func health(_ proxy: Sensor1Proxy) async throws(DBusError) -> Health {
        let answer = await healthLookUps.share(proxy.destination) {
            do throws(DBusError) {
                let health = try await self.lanes
                    .run(.questions, for: CallBudget.service) { () throws(DBusError) in
                        try await self.asked { () throws(DBusError) in
                            try await proxy.health(timeout: Self.patience)
                        }
                    }
                return .success(health)
            } catch {
                return .failure(error)
            }
        }
        return try answer.get()
    }

    /// It refused an operation of a user, or worked for them.
    func complain(_ reason: String?, of uid: UInt32) {
        if complaints.count >= Self.mostComplaints { complaints = [:] }
        complaints[uid] = reason
    }

    private static let mostComplaints = 1024

    /// Asks it something; again where the bus itself answers late, which is no fault of the sensor.
    ///
    /// Whoever floods the bus with large calls would have everybody's sensors fail.
    func asked<Value>(
        _ question: @BusActor () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        let end = Instant.now() + Self.longestDelay
        while true {
            do throws(DBusError) {
                return try await question()
            } catch {
                guard error.name == .noReply, Instant.now() < end,
                    await proxy?.connection.isLate(by: Self.lateness) == true
                else { throw error }
            }
        }
    }

    /// So long a bus may be late until the sensor is taken to have failed after all.
    private static let longestDelay = Duration.seconds(8)
    /// An answer of the bus that takes longer is late: a sensor's takes the way of several of them.
    private static let lateness = Duration.milliseconds(200)

    /// Why nothing can be asked of it now.
    var refusal: DBusError {
        DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(unavailability.wire))."
        )
    }

    /// Why nothing can be asked of it now, with what it says of that itself.
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

    /// Something that it announced without saying what.
    enum Doubt {
        case none
        /// It is to be asked.
        case announced
        /// It is being asked.
        case asked
    }

    /// It announced that something is another without saying what: asks once for all that it
    /// announces until it is asked.
    func beginDoubt(_ owner: String) {
        guard doubt != .announced, let proxy, proxy.destination == owner else { return }
        doubt = .announced
        onLoop { _ = await self.lookAgain(proxy) }
    }

    /// Whether what is known of it may be from before something that it announced.
    var isInDoubt: Bool { state == .ready && doubt != .none }

    /// Returns once it has said what it announced, can't be used, or can't be asked now.
    func settleDoubt() async {
        guard isInDoubt, let proxy else { return }
        _ = await lookAgain(proxy)
    }
}

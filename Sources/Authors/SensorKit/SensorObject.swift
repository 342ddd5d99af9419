import DBus
import LocalAuthBus
import ServiceProgram

/// Serves `org.localauth.Sensor1`: checks caller and arguments, then calls the driver.
@BusActor final class SensorObject: Sensor1Service {
    static let maximumLabel = 256
    static let maximumIdentifier = 256

    private let sensor: any Sensor
    private let host: SensorHost
    private let daemon: DaemonCaller
    private let faultLog: FaultLog
    private let slot: OperationSlot

    init(_ sensor: any Sensor, host: SensorHost, daemon: DaemonCaller, faultLog: FaultLog) {
        self.sensor = sensor
        self.host = host
        self.daemon = daemon
        self.faultLog = faultLog
        slot = OperationSlot(connection: host.connection, faultLog: faultLog)
    }

    /// Whether the process can exit without losing data.
    var mayEnd: Bool { slot.isIdle && sensor.mayEnd }

    /// Refuses new operations as busy, so that the daemon retries with the next process.
    func close() { slot.close() }

    func stop() async {
        slot.cancelCurrent()
        await sensor.stop()
    }

    // MARK: Operations

    func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let sensor = sensor
        return .later { [self] () async throws(DBusError) in
            try await check(call, uid)
            let mayUpdateTemplate = options["learn"]?.asBool == true
            return try await slot.run(
                operation,
                user: uid,
                mayUpdateTemplate: mayUpdateTemplate,
                caller: call.peer
            ) { (operation) async throws(SensorFault) in
                try await sensor.verify(operation)
            }
        }
    }

    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        .later { [self] () async throws(DBusError) in
            try await daemon.require(call.peer)
            guard let update = slot.templateUpdate(of: operation, caller: call.peer) else {
                throw DBusError(.invalidArgs, "This operation has no match to learn from.")
            }
            do throws(SensorFault) {
                return try await update()
            } catch {
                faultLog.failed(error, .operation)
                throw error.error
            }
        }
    }

    func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        .later { [self] () async throws(DBusError) in
            try await check(call, uid)
            try Self.check(label: label)
            return try await slot.run(operation, user: uid, caller: call.peer) {
                [sensor, host] (operation) async throws(SensorFault) in
                let limit = sensor.properties.maximumTemplates
                if limit > 0, try await sensor.templates(of: uid).count >= Int(limit) {
                    throw .full
                }
                let id = try await sensor.enroll(operation, label: label)
                // The caller will receive Canceled, so the new template must not remain.
                guard !operation.isCanceled else {
                    // Use a separate task, because the driver's calls in this canceled task would
                    // fail.
                    await onLoop { [host] in
                        do throws(SensorFault) {
                            try await sensor.remove(id, of: uid)
                        } catch {
                            host.templatesChanged(of: uid)
                        }
                    }
                    .value
                    throw .canceled
                }
                host.templatesChanged(of: uid)
                return id
            }
        }
    }

    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        // A running operation belongs to this caller; from this point on it reports no match.
        if slot.cancel(operation, caller: call.peer) { return .now(()) }
        return .later { [self] () async throws(DBusError) in
            try await daemon.require(call.peer)
            slot.cancelEarly(operation, caller: call.peer)
        }
    }

    // MARK: Templates

    func listTemplates(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        let sensor = sensor
        return answer(call, uid, .list) { () async throws(SensorFault) in
            try await sensor.templates(of: uid)
        }
    }

    func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let sensor = sensor
        return answer(call, uid) { () throws(DBusError) in
            try Self.check(label: label)
            try Self.check(id: id)
        } body: { () async throws(SensorFault) in
            try await sensor.rename(id, of: uid, to: label)
        }
    }

    func removeTemplate(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let (sensor, host) = (sensor, host)
        return answer(call, uid) { () throws(DBusError) in
            try Self.check(id: id)
        } body: { () async throws(SensorFault) in
            try await sensor.remove(id, of: uid)
            host.templatesChanged(of: uid)
        }
    }

    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        let (sensor, host) = (sensor, host)
        return answer(call, uid) { () async throws(SensorFault) in
            let removed = try await sensor.removeAll(of: uid)
            if removed > 0 { host.templatesChanged(of: uid) }
            return removed
        }
    }

    func listLearned(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> {
        let sensor = sensor
        return answer(call, uid, .list) { () async throws(SensorFault) in
            try await sensor.templateUpdates(of: uid)
        }
    }

    func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let sensor = sensor
        return answer(call, uid) { () throws(DBusError) in
            try Self.check(id: id)
        } body: { () async throws(SensorFault) in
            try await sensor.removeTemplateUpdate(id, of: uid)
        }
    }

    func health(
        call: IncomingCall
    ) throws(DBusError) -> Answer<(state: String, message: String)> {
        .later { [self] () async throws(DBusError) in
            try await daemon.require(call.peer)
            return switch sensor.health {
            case .ok:
                (inUse ?? faultLog.last).map { (HealthState.degraded.rawValue, $0) }
                    ?? (HealthState.ok.rawValue, "")
            case .degraded(let message): (HealthState.degraded.rawValue, message)
            case .failed(let message): (HealthState.failed.rawValue, message)
            }
        }
    }

    /// The sentence that another program holds the device; nil if no operation waits for it.
    private var inUse: String? {
        slot.holder.map { program in
            program.isEmpty
                ? "The device is in use by another program." : "The device is in use by \(program)."
        }
    }

    // MARK: Properties

    func protocolVersions(for peer: Peer?) -> [UInt32] { [1] }
    func description(for peer: Peer?) -> String { sensor.properties.description }
    func biometryType(for peer: Peer?) -> UInt32 { sensor.properties.biometryType.rawValue }
    func strength(for peer: Peer?) -> String { sensor.properties.strength.rawValue }
    func present(for peer: Peer?) -> Bool { sensor.properties.isPresent }
    func unavailability(for peer: Peer?) -> String {
        sensor.properties.unavailability?.rawValue ?? ""
    }
    func enrollStages(for peer: Peer?) -> Int32 { sensor.properties.enrollStages }
    func maxTemplates(for peer: Peer?) -> UInt32 { sensor.properties.maximumTemplates }
    func instructions(for peer: Peer?) -> [String: String] { sensor.properties.instructions }

    // MARK: Checks

    private func check(_ call: IncomingCall, _ uid: UInt32) async throws(DBusError) {
        try await daemon.require(call.peer)
        guard uid != .max else { throw DBusError(.invalidArgs, "uid \(uid) is no user.") }
    }

    private static func check(label: String) throws(DBusError) {
        guard label.utf8.count <= maximumLabel else {
            throw DBusError(.invalidArgs, "A label has at most \(maximumLabel) bytes.")
        }
    }

    private static func check(id: String) throws(DBusError) {
        guard id.utf8.count <= maximumIdentifier else {
            throw DBusError(.invalidArgs, "An id has at most \(maximumIdentifier) bytes.")
        }
    }

    /// Runs the driver's method for the daemon, and maps its faults to the contract's errors.
    private func answer<Value: Sendable>(
        _ call: IncomingCall,
        _ uid: UInt32,
        _ request: FaultLog.Request = .operation,
        check: @escaping @BusActor @Sendable () throws(DBusError) -> Void = {},
        body: @escaping @BusActor @Sendable () async throws(SensorFault) -> Value
    ) -> Answer<Value> {
        .later { [self] () async throws(DBusError) -> Value in
            try await self.check(call, uid)
            try check()
            do throws(SensorFault) {
                let value = try await body()
                faultLog.worked(request)
                return value
            } catch {
                faultLog.failed(error, request)
                throw error.error
            }
        }
    }
}

import AuthEngine
import AuthStore
import BusGuard
import Contract
import DBus
import LocalAuthBus

/// The progress of an operation; the last four cases end it.
enum SensorProgress {
    case ready
    /// Another program uses the device; the name is empty if unknown.
    case busy(by: String)
    case hinted(String)
    case stage(UInt32, of: Int32)
    /// A match, or a new template.
    case finished(template: String)
    case templateRemoved
    case refused(DBusError)
    /// The operation was canceled, or the sensor is unavailable without a fault.
    case ended
}

/// A sensor's operations for persons, by their numbers on the wire.
@BusActor
final class SensorOperations {
    typealias Report = @BusActor (SensorProgress) -> Void
    private typealias Call =
        @BusActor @Sendable (Sensor1Proxy) async throws(DBusError) -> String

    /// How long a sensor may take to end a canceled operation.
    static let patience = Duration.seconds(5)
    /// How often an operation is sent again because the sensor exited.
    static let mostDepartures = 3
    /// The pause before a busy sensor is asked again.
    static let busyPause = Duration.milliseconds(400)
    /// The longest name of a program that uses the device, in characters.
    static let longestHolder = 64
    /// The interval of health checks during an operation.
    static let checkInterval = Duration.seconds(3)

    private struct Operation {
        let isEnrolment: Bool
        let uid: UInt32
        let report: Report
        /// The connection that got the operation; nil before that.
        var asked: String?
        var isReady = false
        /// Whether the caller was told that another program uses the device.
        var isBusy = false
        var isCanceled = false
        var isTemplateRemoved = false
        var overdue: EventSource?
        var task: Task<Void, Never>?
        var signals = Allowance(limit: 20)
    }

    private var operations: [UInt64: Operation] = [:]
    /// Numbers of enrolments start far above the engine's numbers, so that they never collide.
    ///
    /// All sensors share the counter, so that a sensor that is removed and added again gets no
    /// number twice.
    private static var lastEnrolment: UInt64 = 1 << 62
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var healthCheck: EventSource?
    private let process: SensorProcess
    private let templates: SensorTemplates

    init(process: SensorProcess, templates: SensorTemplates) {
        self.process = process
        self.templates = templates
    }

    // MARK: - Running operations

    /// Verifies the user until there is a result.
    ///
    /// With `mayUpdateTemplate` a password may confirm the match, so the sensor keeps its capture
    /// for a moment.
    func verify(
        operation number: UInt64,
        uid: UInt32,
        mayUpdateTemplate: Bool = false,
        report: @escaping Report
    ) {
        let operation = Operation(isEnrolment: false, uid: uid, report: report)
        let known = templates[uid]
        start(number, operation) { proxy throws(DBusError) in
            let template = try await proxy.verify(
                operation: number,
                uid: uid,
                options: mayUpdateTemplate ? ["learn": .bool(true)] : [:]
            )
            try self.expectOwner(proxy)
            guard !self.templates.isUnwanted(template, of: uid) else {
                throw DBusError(sensor: .sensorFailed)
            }
            // A match with a template that the user does not have does not count.
            guard await self.templates.contains(template, of: uid) else {
                // If the sensor's process was replaced, the list does not prove a fault of the
                // process that matched.
                try self.expectOwner(proxy)
                if let known, !self.templates.isUnknown(of: uid) {
                    // The template was removed during the verification.
                    guard !known.contains(where: { $0.id == template }) else {
                        self.operations[number]?.isTemplateRemoved = true
                        throw DBusError(sensor: .sensorCanceled)
                    }
                    if !self.templates.isStale(of: uid) {
                        self.process.service.fail(.failed, because: Self.unknownTemplate)
                    }
                }
                throw DBusError(sensor: .sensorFailed)
            }
            // Another process may have returned the list, so check again.
            try self.expectOwner(proxy)
            self.process.fault = nil
            return template
        }
    }

    static let unknownTemplate = "It matched with a template that the user doesn't have."

    /// Enrols a finger or face of the user.
    ///
    /// - Returns: The operation's number.
    func enroll(uid: UInt32, label: String, report: @escaping Report) -> UInt64 {
        Self.lastEnrolment += 1
        let number = Self.lastEnrolment
        let operation = Operation(isEnrolment: true, uid: uid, report: report)
        start(number, operation) { proxy throws(DBusError) in
            let template = try await proxy.enroll(
                operation: number,
                uid: uid,
                label: label,
                options: [:]
            )
            try self.expectOwner(proxy)
            guard SensorTemplates.isIdentifier(template) else {
                throw DBusError(sensor: .sensorFailed)
            }
            return template
        }
        return number
    }

    /// Ignores the result of a process that has given up its name.
    ///
    /// The result counts neither for nor against its successor, which is asked again.
    private func expectOwner(_ proxy: Sensor1Proxy) throws(DBusError) {
        guard process.owner == proxy.destination else { throw DBusError(sensor: .sensorFailed) }
    }

    private func start(_ number: UInt64, _ operation: Operation, _ call: @escaping Call) {
        guard process.isUsable else {
            return operation.report(Self.end(process.unavailability))
        }
        operations[number] = operation
        let uid = operation.uid
        operations[number]?.task = onLoop {
            self.finish(number, await self.attempt(number, for: uid, call))
        }
        scheduleHealthCheck()
    }

    private func attempt(
        _ number: UInt64,
        for uid: UInt32,
        _ call: Call
    ) async -> SensorProgress {
        var departures = 0
        while true {
            guard let proxy = await process.awake(), operations[number]?.isCanceled == false else {
                return Self.end(process.unavailability)
            }
            operations[number]?.asked = proxy.destination
            do throws(DBusError) {
                let template = try await process.lanes.run(.operations, for: uid) {
                    () throws(DBusError) in
                    try await call(proxy)
                }
                process.complain(nil, of: uid)
                return .finished(template: template)
            } catch {
                if operations[number]?.isTemplateRemoved == true { return .templateRemoved }
                // The sensor was exiting when the call arrived.
                if departures < Self.mostDepartures,
                    await process.service.hasDeparted(proxy.destination),
                    operations[number]?.isReady == false
                {
                    departures += 1
                    continue
                }
                guard error.name == .sensorBusy, let own = operations[number] else {
                    if operations[number]?.isCanceled == false, let reason = error.sensorReason {
                        process.complain(reason, of: uid)
                    }
                    return .refused(DBusError(sensor: error))
                }
                await wait(number, own)
            }
        }
    }

    /// Waits until a busy sensor may be free (L25).
    private func wait(_ number: UInt64, _ own: Operation) async {
        var timer: EventSource?
        if !hasReasonToWait(number) {
            took(own, number, by: "")
            timer = EventLoop.shared.schedule(after: Self.busyPause) { [weak self] in
                self?.resumeWaiters()
            }
        }
        await withCheckedContinuation { waiters.append($0) }
        timer?.cancel()
    }

    private func took(_ operation: Operation, _ number: UInt64, by program: String) {
        guard !operation.isCanceled, !operation.isBusy else { return }
        operations[number]?.isBusy = true
        operation.report(.busy(by: program))
    }

    /// Whether the sensor is busy with an operation that ends soon: a canceled operation, or for a
    /// verification any other operation.
    private func hasReasonToWait(_ number: UInt64) -> Bool {
        guard let own = operations[number], !own.isCanceled else { return false }
        return operations.contains { $0.key != number && (!own.isEnrolment || $0.value.isCanceled) }
    }

    func isEnrolling(_ uid: UInt32) -> Bool {
        operations.values.contains { $0.isEnrolment && $0.uid == uid }
    }

    /// Whether this connection got the operation and still runs it.
    func runs(_ number: UInt64, on peer: Peer) -> Bool {
        guard let operation = operations[number], !operation.isCanceled else { return false }
        return operation.asked == peer.name
    }

    private func finish(_ number: UInt64, _ end: SensorProgress) {
        guard let operation = operations.removeValue(forKey: number) else { return }
        operation.overdue?.cancel()
        if operation.isEnrolment, case .finished(let template) = end {
            if operation.isCanceled {
                // The enrolment had finished when Cancel arrived.
                templates.discard(template, of: operation.uid)
            } else {
                templates.accept(template, of: operation.uid)
            }
        }
        resumeWaiters()
        operation.report(operation.isCanceled ? .ended : end)
    }

    private func resumeWaiters() {
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume() }
    }

    func idle() async {
        while !operations.isEmpty { await withCheckedContinuation { waiters.append($0) } }
    }

    // MARK: - Canceling

    /// Cancels without waiting; a sensor that does not end the operation in time counts as failed.
    func cancel(operation number: UInt64) {
        guard operations[number]?.isCanceled == false else { return }
        operations[number]?.isCanceled = true
        process.proxy?.sendCancel(operation: number)
        operations[number]?.overdue = EventLoop.shared.schedule(after: Self.patience) {
            [weak self] in
            guard let self, operations[number] != nil else { return }
            process.service.fail(.failed, because: "It did not end an operation that was canceled.")
        }
        // Wake operations that wait, because an unsent operation has nothing to end.
        resumeWaiters()
    }

    func cancelAll() {
        for number in operations.keys.sorted() { cancel(operation: number) }
    }

    /// Ends all operations without a result because the sensor is unavailable.
    func endAll(_ reason: Unavailability) { end(reason) { _ in true } }

    /// Ends operations that had begun when the sensor gave up its name, which a clean exit has
    /// ended before.
    func endBegun() { end(.crashed) { $0.isReady } }

    /// Returns the result of an operation on a sensor that is unavailable for this reason.
    private static func end(_ reason: Unavailability?) -> SensorProgress {
        switch reason {
        case .noHardware: .refused(DBusError(sensor: .sensorDisconnected))
        case .untrusted: .refused(DBusError(sensor: .sensorDenied))
        case .crashed, .failed, .incompatible: .refused(DBusError(sensor: .sensorFailed))
        case .starting, .lidClosed, .suspended, .remoteSession, nil: .ended
        }
    }

    private func end(_ reason: Unavailability, _ isMeant: (Operation) -> Bool) {
        let ended = operations.filter { isMeant($0.value) }
        for number in ended.keys { operations[number] = nil }
        if operations.isEmpty {
            healthCheck?.cancel()
            healthCheck = nil
        }
        for (number, operation) in ended {
            operation.overdue?.cancel()
            operation.task?.cancel()
            if !operation.isCanceled { process.proxy?.sendCancel(operation: number) }
        }
        resumeWaiters()
        for operation in ended.values {
            operation.report(operation.isCanceled ? .ended : Self.end(reason))
        }
    }

    // MARK: - During operations

    /// Handles a signal of the sensor, unless its operation is unknown or canceled.
    func received(operation number: UInt64, kind: String, detail: [String: Variant]) {
        guard let running = operations[number], !running.isCanceled else { return }
        switch SensorEventKind(rawValue: kind) {
        case .ready:
            guard !running.isReady || running.isBusy else { return }
            operations[number]?.isReady = true
            operations[number]?.isBusy = false
            running.report(.ready)
        case .busy:
            guard let program = detail["by"]?.asString, isAllowed(number) else { return }
            took(running, number, by: DisplayText.cleaned(program, limit: Self.longestHolder))
        case .hint:
            guard let hint = detail["hint"]?.asString, Self.isWord(hint), isAllowed(number) else {
                return
            }
            running.report(.hinted(hint))
        case .stage:
            guard isAllowed(number) else { return }
            let stages = detail["stages"]
                .map {
                    $0.asInt32 ?? $0.asUInt32.map(Int32.init(clamping:)) ?? -1
                }
            running.report(
                .stage(
                    min(detail["stage"]?.asUInt32 ?? 0, 1000),
                    of: max(-1, min(stages ?? -1, 1000))
                )
            )
        case nil: break
        }
    }

    private func isAllowed(_ number: UInt64) -> Bool {
        operations[number]?.signals.take(at: Instant.now()) == true
    }

    /// Whether a hint is a word of the form that the contract requires.
    private static func isWord(_ hint: String) -> Bool {
        !hint.isEmpty && hint.utf8.count <= 64
            && hint.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// Detects a sensor that hangs during an operation, which would block all users.
    private func scheduleHealthCheck() {
        guard healthCheck == nil, !operations.isEmpty else { return }
        healthCheck = EventLoop.shared.schedule(after: Self.checkInterval) { [weak self] in
            guard let self else { return }
            healthCheck = nil
            onLoop { await self.checkHealth() }
        }
    }

    private func checkHealth() async {
        guard !operations.isEmpty, let proxy = process.proxy else { return }
        let isSame = { self.process.owner == proxy.destination }
        do throws(DBusError) {
            let health = try await process.health(proxy)
            guard isSame() else { return }
            if HealthState(rawValue: health.state) == .failed { process.service.fail(.failed) }
        } catch {
            // The bus reports a missing owner even if the signal of its exit was lost.
            let lost: [DBusError.Name] = [.noReply, .serviceUnknown, .nameHasNoOwner]
            if isSame(), lost.contains(error.name) {
                process.service.fail(.failed, because: "It does not answer.")
            }
        }
        scheduleHealthCheck()
    }
}

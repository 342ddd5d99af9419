import AuthEngine
import AuthStore
import DBus
import LocalAuthBus

/// What comes of an operation.
enum SensorProgress {
    case ready
    case hinted(String)
    case mismatched
    case stage(UInt32, of: Int32)
    /// The last word: a match, or a new template.
    case finished(template: String)
    /// The last word: why not.
    case refused(DBusError)
    /// The last word: canceled, or the sensor is lost.
    case ended
}

extension SensorLink {
    typealias Report = @BusActor (SensorProgress) -> Void
    private typealias Call =
        @BusActor @Sendable (Sensor1Proxy) async throws(DBusError) -> String

    /// One thing that the sensor was asked to do.
    struct Operation {
        let isEnrolment: Bool
        let report: Report
        var isReady = false
        var isCanceled = false
        var overdue: EventSource?
        var task: Task<Void, Never>?
        /// Hints and stages; failed attempts are few, because they are counted.
        var signals = Allowance(limit: 20)
    }

    /// Looks for the user until something comes of it.
    func verify(operation number: UInt64, uid: UInt32, report: @escaping Report) {
        run(number, Operation(isEnrolment: false, report: report)) {
            await self.attempt(number) { proxy throws(DBusError) in
                let template = try await proxy.verify(operation: number, uid: uid, options: [:])
                return try await self.known(template, of: uid)
            }
        }
    }

    /// Enrols the user.
    func enroll(
        operation number: UInt64,
        uid: UInt32,
        label: String,
        report: @escaping Report
    ) {
        run(number, Operation(isEnrolment: true, report: report)) {
            await self.attempt(number) { proxy throws(DBusError) in
                let template = try await proxy.enroll(
                    operation: number,
                    uid: uid,
                    label: label,
                    options: [:]
                )
                guard Self.isIdentifier(template) else { throw Self.fault }
                return template
            }
        }
    }

    /// A match with a template that the user doesn't have is none.
    private func known(_ template: String, of uid: UInt32) async throws(DBusError) -> String {
        let isKnown = { self.lists[uid]?.contains { $0.id == template } == true }
        if !isKnown() { _ = await listTemplates(of: uid) }
        guard isKnown() else { throw Self.fault }
        return template
    }

    private static var fault: DBusError { cleaned(DBusError(.sensorFailed, "")) }

    private func run(
        _ number: UInt64,
        _ operation: Operation,
        _ body: @escaping @BusActor @Sendable () async -> SensorProgress
    ) {
        guard isUsable else { return operation.report(.ended) }
        operations[number] = operation
        operations[number]?.task = onLoop { self.finish(number, await body()) }
        scheduleHealthCheck()
    }

    private func attempt(_ number: UInt64, _ call: Call) async -> SensorProgress {
        while true {
            guard await isAwake(), operations[number]?.isCanceled == false, let proxy else {
                return .ended
            }
            do throws(DBusError) {
                return .finished(template: try await call(proxy))
            } catch {
                guard error.name == .sensorBusy, hasReasonToWait(number) else {
                    return .refused(Self.cleaned(error))
                }
                await withCheckedContinuation { queue.append($0) }
            }
        }
    }

    /// Whether a busy sensor is so with something that ends: what was canceled, or, for one who
    /// only looks, whatever runs.
    private func hasReasonToWait(_ number: UInt64) -> Bool {
        guard let own = operations[number], !own.isCanceled else { return false }
        return operations.contains { $0.key != number && (!own.isEnrolment || $0.value.isCanceled) }
    }

    private func finish(_ number: UInt64, _ end: SensorProgress) {
        guard let operation = operations.removeValue(forKey: number) else { return }
        operation.overdue?.cancel()
        callNext()
        operation.report(operation.isCanceled ? .ended : end)
    }

    private func callNext() {
        let waiting = queue
        queue = []
        for continuation in waiting { continuation.resume() }
    }

    /// Cancels without waiting; a sensor that goes on for longer than its patience has failed.
    func cancel(operation number: UInt64) {
        guard operations[number]?.isCanceled == false else { return }
        operations[number]?.isCanceled = true
        proxy?.sendCancel(operation: number)
        operations[number]?.overdue = EventLoop.shared.schedule(after: Self.longPatience) {
            [weak self] in
            guard let self, operations[number] != nil else { return }
            fail("failed")
        }
        // One that was never sent to the sensor has nothing to end.
        callNext()
    }

    func cancelOperations() {
        for number in operations.keys.sorted() { cancel(operation: number) }
    }

    /// Returns once nothing runs.
    func idle() async {
        while !operations.isEmpty { await withCheckedContinuation { queue.append($0) } }
    }

    /// Everything that runs ended without a result.
    func endOperations() {
        let ended = operations
        operations = [:]
        healthCheck?.cancel()
        healthCheck = nil
        for (number, operation) in ended {
            operation.overdue?.cancel()
            operation.task?.cancel()
            if !operation.isCanceled { proxy?.sendCancel(operation: number) }
        }
        callNext()
        for operation in ended.values { operation.report(.ended) }
    }

    // MARK: - While it runs

    /// Takes a signal of the sensor; those of other operations, or after Cancel, mean nothing.
    func received(operation number: UInt64, kind: String, detail: [String: Variant]) {
        guard let running = operations[number], !running.isCanceled else { return }
        switch kind {
        case "ready" where !running.isReady:
            operations[number]?.isReady = true
            running.report(.ready)
        case "no-match": running.report(.mismatched)
        case "hint":
            guard let hint = detail["hint"]?.asString, Self.isWord(hint), isAllowed(number) else {
                return
            }
            running.report(.hinted(hint))
        case "stage":
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
        default: break
        }
    }

    private func isAllowed(_ number: UInt64) -> Bool {
        operations[number]?.signals.take(at: Instant.now()) == true
    }

    /// Whether a hint is one word of the kind that the contract lists.
    private static func isWord(_ hint: String) -> Bool {
        !hint.isEmpty && hint.utf8.count <= 64
            && hint.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// A sensor that hangs while it looks would keep everybody waiting.
    private func scheduleHealthCheck() {
        guard healthCheck == nil, !operations.isEmpty else { return }
        healthCheck = EventLoop.shared.schedule(after: Self.checkInterval) { [weak self] in
            guard let self else { return }
            healthCheck = nil
            onLoop { await self.checkHealth() }
        }
    }

    private func checkHealth() async {
        guard !operations.isEmpty, let proxy, let asked = owner else { return }
        do throws(DBusError) {
            let health = try await proxy.health(timeout: Self.patience)
            guard owner == asked else { return }
            if health.state == "failed" { fail("failed") }
        } catch {
            if owner == asked, error.name == .noReply { fail("failed") }
        }
        scheduleHealthCheck()
    }

    // MARK: - Errors

    /// A sensor's error in our own words: what it says is for its log.
    static func cleaned(_ error: DBusError) -> DBusError {
        switch error.name {
        case .sensorCanceled: DBusError(.sensorCanceled, "The operation was canceled.")
        case .sensorBusy: DBusError(.sensorBusy, "The sensor is busy.")
        case .sensorNoTemplates: DBusError(.sensorNoTemplates, "There is no such template.")
        case .sensorFull: DBusError(.sensorFull, "There is no room for another template.")
        case .sensorDuplicate: DBusError(.sensorDuplicate, "This is enrolled already.")
        case .sensorDisconnected: DBusError(.sensorDisconnected, "The sensor is not connected.")
        default: DBusError(.sensorFailed, "The sensor failed.")
        }
    }
}

package import BusBench
package import DBus
package import LocalAuthBus

/// A third party's sensor, with programmable misbehaviour.
@BusActor
package final class ScriptedSensor: Sensor1Service {
    /// The reaction to a canceled operation.
    package enum OnCancel {
        case obey
        /// Answers neither Cancel nor the operation.
        case ignore
        /// Reports a match despite the cancellation.
        case match
    }

    /// A Verify or Enroll call of the daemon.
    @BusActor
    package final class Operation {
        package let number: UInt64
        package let uid: UInt32
        package let daemon: String
        /// Whether the sensor may learn from the match.
        package let mayUpdateTemplate: Bool
        fileprivate let result = EventRecorder<Result<String, DBusError>>()
        package let canceled = EventRecorder<Bool>()
        /// The number of reported misses.
        package fileprivate(set) var attempts: UInt32 = 0

        fileprivate init(
            _ number: UInt64,
            _ uid: UInt32,
            _ call: IncomingCall,
            mayUpdateTemplate: Bool = false
        ) {
            self.mayUpdateTemplate = mayUpdateTemplate
            self.number = number
            self.uid = uid
            daemon = call.peer.name
        }

        package func succeed(_ template: String) { result.record(.success(template)) }
        package func fail(_ name: DBusError.Name, _ message: String = "scripted") {
            result.record(.failure(DBusError(name, message)))
        }
    }

    package static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    package let name: String
    package let connection: Connection
    package var versions: [UInt32] = [1]
    package var saidStrength = "strong"
    package var type: UInt32 = 1
    package var isPresent = true
    package var reason = ""
    package var templates: [UInt32: [Template]] = [:]
    /// Instructions for people, by language.
    package var words: [String: String] = [:]
    /// The reply of Health.
    package var state = "ok"
    package var health = ""
    package var onCancel = OnCancel.obey
    /// Whether Verify reports at once that the sensor looks.
    package var isReadyAtOnce = false
    /// The error of ListTemplates; nil lists templates.
    package var listError: DBusError.Name?
    /// Called before the reply of ListTemplates.
    package var onList: (@BusActor @Sendable () -> Void)?
    /// Called before the reply of GetAll.
    package var onLook: (@BusActor @Sendable () -> Void)?
    /// The learned entries of all users.
    package var learned: [LearnedEntry] = []
    /// The operations that Learn confirmed.
    package let templateUpdates = EventRecorder<UInt64>()
    /// The error of Learn and ListLearned; nil answers them.
    package var learnError: DBusError.Name?
    /// The error of RemoveLearned; nil removes the entry.
    package var removeError: DBusError.Name?
    /// The error of RemoveTemplate; nil removes the template.
    package var removalError: DBusError.Name?
    /// The error of RemoveAllTemplates after it removed a template; nil removes all.
    package var removalOfAllError: DBusError.Name?
    /// The error of GetAll; nil returns the properties.
    package var propertyError: DBusError.Name?
    /// Leaves every method unanswered.
    package var isSilent = false
    /// Methods that stay unanswered until `speak()`.
    package var unanswered: Set<String> = []
    /// Methods that answer slowly.
    package var slow: Set<String> = []
    /// The highest number of concurrent calls of each method.
    package private(set) var most: [String: Int] = [:]
    private var running: [String: Int] = [:]
    package let calls = EventRecorder<String>()
    /// The users of ListTemplates calls.
    package let listed = EventRecorder<UInt32>()
    package let operations = EventRecorder<Operation>()
    /// The labels of Enroll calls.
    package let labels = EventRecorder<String>()
    private let silence = Gate()
    private var lastTemplate = 0
    private var interface: Sensor1Interface { Sensor1Interface(self) }

    package init(_ name: String, on connection: Connection) {
        self.name = name
        self.connection = connection
    }

    package var signals: Sensor1Signals { Sensor1Signals(connection, path: Self.path) }

    package func appear() throws(DBusError) {
        connection.export(Self.path, [interface])
        try connection.requestName("org.localauth.Sensor1." + name)
    }

    package func add(
        _ name: String? = nil,
        for uid: UInt32,
        announcing: Bool = true
    ) -> String {
        lastTemplate += 1
        let id = name ?? "template-\(lastTemplate)"
        templates[uid, default: []].append(Template(id: id, label: "finger", created: 1))
        if announcing { signals.templatesChanged(uid: uid) }
        return id
    }

    package func changed(_ property: String) {
        connection.propertiesChanged(Self.path, interface, [property])
    }

    /// Announces a property's change without its value.
    package func invalidated(_ property: String) {
        announce([:], invalidated: [property])
    }

    /// Announces a wrong value of any type for a property.
    package func announce(_ property: String, as value: Variant) {
        announce([property: value], invalidated: [])
    }

    private func announce(_ changed: [String: Variant], invalidated: [String]) {
        connection.emit(
            path: Self.path,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            signature: "sa{sv}as"
        ) { writer throws(DBusError) in
            try writer.write(Sensor1.interface)
            try writer.write(changed)
            try writer.write(invalidated)
        }
    }

    /// Returns the operation with this index, counted from 0.
    package func operation(_ number: Int = 0) async throws -> Operation {
        _ = try await operations.first("operation \(number)") { _ in
            operations.seen.count > number
        }
        return operations.seen[number]
    }

    package func tell(
        _ operation: Operation,
        _ kind: String,
        _ detail: [String: Variant] = [:],
        from other: Connection? = nil
    ) {
        Sensor1Signals(other ?? connection, path: Self.path)
            .event(operation: operation.number, kind: kind, detail: detail, to: operation.daemon)
    }

    /// Reports misses, each after the previous reply, until no attempt is left.
    package func miss(_ operation: Operation, _ times: Int = 1) async throws(DBusError) {
        for _ in 0..<times {
            operation.attempts += 1
            let left = try await miss(operation, attempt: operation.attempts)
            if left == 0 { return }
        }
    }

    package func miss(
        _ operation: Operation,
        attempt: UInt32,
        from other: Connection? = nil
    ) async throws(DBusError) -> UInt32 {
        try await SensorHost1Proxy(
            other ?? connection,
            destination: operation.daemon,
            path: SensorHost1.path
        )
        .noMatch(operation: operation.number, attempt: attempt)
    }

    /// The most signals that the daemon passes on since `start`: 20 a second.
    package static func most(since start: ContinuousClock.Instant) -> Int {
        20 * (Int((ContinuousClock.now - start) / .seconds(1)) + 2)
    }

    package func count(of member: String) -> Int { calls.seen.filter { $0 == member }.count }

    /// Answers again, including calls that are still unanswered.
    package func speak() {
        isSilent = false
        unanswered = []
        silence.open()
    }

    /// Answers a call, but waits for `speak()` while the sensor is silent.
    private func answer<Value: Sendable>(
        _ member: String,
        _ body: @escaping @BusActor () throws(DBusError) -> Value
    ) -> Answer<Value> {
        calls.record(member)
        let isSilent = isSilent || unanswered.contains(member)
        running[member, default: 0] += 1
        most[member] = max(most[member, default: 0], running[member, default: 0])
        return .later { () throws(DBusError) in
            defer { self.running[member, default: 0] -= 1 }
            if self.slow.contains(member) { for _ in 0..<100 { await Task.yield() } }
            if isSilent { try await self.silence.wait() }
            return try body()
        }
    }

    // MARK: - Sensor1

    package func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let mayUpdateTemplate = options["learn"] == .bool(true)
        return begin(
            "Verify",
            Operation(operation, uid, call, mayUpdateTemplate: mayUpdateTemplate)
        )
    }

    package func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        labels.record(label)
        return begin("Enroll", Operation(operation, uid, call))
    }

    private func begin(_ member: String, _ operation: Operation) -> Answer<String> {
        calls.record(member)
        operations.record(operation)
        if isReadyAtOnce { tell(operation, "ready") }
        return .later { () throws(DBusError) in
            let result: Result<String, DBusError>
            do throws(TestFailure) {
                result = try await operation.result.first("a result", within: .seconds(60)) { _ in
                    true
                }
            } catch {
                throw DBusError(.sensorFailed, error.description)
            }
            return try result.get()
        }
    }

    package func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        calls.record("Cancel")
        let running = operations.seen.first { $0.number == operation }
        switch onCancel {
        case .obey: running?.fail(.sensorCanceled)
        case .match: running?.succeed(templates[running?.uid ?? 0]?.first?.id ?? "none")
        case .ignore: break
        }
        running?.canceled.record(true)
        return .now(())
    }

    package func listTemplates(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        listed.record(uid)
        onList?()
        return answer("ListTemplates") { () throws(DBusError) in
            if let listError = self.listError { throw DBusError(listError, "scripted") }
            return self.templates[uid] ?? []
        }
    }

    private func position(of id: String, _ uid: UInt32) throws(DBusError) -> Int {
        guard let position = templates[uid]?.firstIndex(where: { $0.id == id }) else {
            throw DBusError(.sensorNoTemplates, "scripted")
        }
        return position
    }

    package func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answer("RenameTemplate") { () throws(DBusError) in
            let position = try self.position(of: id, uid)
            self.templates[uid]?[position] = Template(id: id, label: label, created: 1)
        }
    }

    package func removeTemplate(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        // Read the error at the time of the call.
        let removalError = removalError
        return answer("RemoveTemplate") { () throws(DBusError) in
            if let removalError { throw DBusError(removalError, "scripted") }
            let position = try self.position(of: id, uid)
            self.templates[uid]?.remove(at: position)
            self.signals.templatesChanged(uid: uid)
        }
    }

    package func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        templateUpdates.record(operation)
        return answer("Learn") { () throws(DBusError) in
            if let learnError = self.learnError { throw DBusError(learnError, "scripted") }
            return true
        }
    }

    package func listLearned(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> {
        answer("ListLearned") { () throws(DBusError) in
            if let learnError = self.learnError { throw DBusError(learnError, "scripted") }
            return self.learned
        }
    }

    package func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answer("RemoveLearned") { () throws(DBusError) in
            if let removeError = self.removeError { throw DBusError(removeError, "scripted") }
            self.learned.removeAll { $0.id == id }
        }
    }

    package func removeAllTemplates(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        answer("RemoveAllTemplates") { () throws(DBusError) in
            if let error = self.removalOfAllError {
                self.templates[uid]?.removeFirst()
                throw DBusError(error, "scripted")
            }
            return UInt32(self.templates.removeValue(forKey: uid)?.count ?? 0)
        }
    }

    package func health(
        call: IncomingCall
    ) throws(DBusError) -> Answer<(state: String, message: String)> {
        answer("Health") { (state: self.state, message: self.health) }
    }

    package func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32] { versions }
    package func description(for peer: Peer?) throws(DBusError) -> String { "A scripted sensor." }
    package func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { type }
    package func strength(for peer: Peer?) throws(DBusError) -> String {
        onLook?()
        if let propertyError { throw DBusError(propertyError, "scripted") }
        return saidStrength
    }
    package func present(for peer: Peer?) throws(DBusError) -> Bool { isPresent }
    package func unavailability(for peer: Peer?) throws(DBusError) -> String { reason }
    package func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { 2 }
    package func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32 { 0 }
    package func instructions(for peer: Peer?) throws(DBusError) -> [String: String] { words }
}

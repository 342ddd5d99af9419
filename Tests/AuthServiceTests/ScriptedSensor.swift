import DBus
import LocalAuthBus
import TestSupport

/// A third party's sensor, with programmable misbehaviour.
@BusActor
final class ScriptedSensor: Sensor1Service {
    /// The reaction to a canceled operation.
    enum OnCancel {
        case obey
        /// Answers neither Cancel nor the operation.
        case ignore
        /// Reports a match despite the cancellation.
        case match
    }

    /// A Verify or Enroll call of the daemon.
    @BusActor
    final class Operation {
        let number: UInt64
        let uid: UInt32
        let daemon: String
        /// Whether the sensor may learn from the match.
        let mayUpdateTemplate: Bool
        fileprivate let result = EventRecorder<Result<String, DBusError>>()
        let canceled = EventRecorder<Bool>()
        /// The number of reported misses.
        fileprivate(set) var attempts: UInt32 = 0

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

        func succeed(_ template: String) { result.record(.success(template)) }
        func fail(_ name: DBusError.Name, _ message: String = "scripted") {
            result.record(.failure(DBusError(name, message)))
        }
    }

    static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    let name: String
    let connection: Connection
    var versions: [UInt32] = [1]
    var saidStrength = "strong"
    var type: UInt32 = 1
    var isPresent = true
    var reason = ""
    var templates: [UInt32: [Template]] = [:]
    /// Instructions for people, by language.
    var words: [String: String] = [:]
    /// The reply of Health.
    var state = "ok"
    var health = ""
    var onCancel = OnCancel.obey
    /// The error of ListTemplates; nil lists templates.
    var listError: DBusError.Name?
    /// Called before the reply of ListTemplates.
    var onList: (@BusActor @Sendable () -> Void)?
    /// Called before the reply of GetAll.
    var onLook: (@BusActor @Sendable () -> Void)?
    /// The learned entries of all users.
    var learned: [LearnedEntry] = []
    /// The operations that Learn confirmed.
    let templateUpdates = EventRecorder<UInt64>()
    /// The error of Learn and ListLearned; nil answers them.
    var learnError: DBusError.Name?
    /// The error of RemoveLearned; nil removes the entry.
    var removeError: DBusError.Name?
    /// The error of RemoveTemplate; nil removes the template.
    var removalError: DBusError.Name?
    /// The error of RemoveAllTemplates after it removed a template; nil removes all.
    var removalOfAllError: DBusError.Name?
    /// The error of GetAll; nil returns the properties.
    var propertyError: DBusError.Name?
    /// Leaves every method unanswered.
    var isSilent = false
    /// Methods that stay unanswered until `speak()`.
    var unanswered: Set<String> = []
    /// Methods that answer slowly.
    var slow: Set<String> = []
    /// The highest number of concurrent calls of each method.
    private(set) var most: [String: Int] = [:]
    private var running: [String: Int] = [:]
    let calls = EventRecorder<String>()
    /// The users of ListTemplates calls.
    let listed = EventRecorder<UInt32>()
    let operations = EventRecorder<Operation>()
    /// The labels of Enroll calls.
    let labels = EventRecorder<String>()
    private let silence = Gate()
    private var lastTemplate = 0
    private var interface: Sensor1Interface { Sensor1Interface(self) }

    init(_ name: String, on connection: Connection) {
        self.name = name
        self.connection = connection
    }

    var signals: Sensor1Signals { Sensor1Signals(connection, path: Self.path) }

    func appear() throws(DBusError) {
        connection.export(Self.path, [interface])
        try connection.requestName("org.localauth.Sensor1." + name)
    }

    func add(for uid: UInt32, announcing: Bool = true) -> String {
        lastTemplate += 1
        let id = "template-\(lastTemplate)"
        templates[uid, default: []].append(Template(id: id, label: "finger", created: 1))
        if announcing { signals.templatesChanged(uid: uid) }
        return id
    }

    func changed(_ property: String) {
        connection.propertiesChanged(Self.path, interface, [property])
    }

    /// Announces a property's change without its value.
    func invalidated(_ property: String) {
        announce([:], invalidated: [property])
    }

    /// Announces a wrong value of any type for a property.
    func announce(_ property: String, as value: Variant) {
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
    func operation(_ number: Int = 0) async throws -> Operation {
        _ = try await operations.first("operation \(number)") { _ in
            operations.seen.count > number
        }
        return operations.seen[number]
    }

    func tell(
        _ operation: Operation,
        _ kind: String,
        _ detail: [String: Variant] = [:],
        from other: Connection? = nil
    ) {
        Sensor1Signals(other ?? connection, path: Self.path)
            .event(operation: operation.number, kind: kind, detail: detail, to: operation.daemon)
    }

    /// Reports misses, each after the previous reply, until no attempt is left.
    func miss(_ operation: Operation, _ times: Int = 1) async throws(DBusError) {
        for _ in 0..<times {
            operation.attempts += 1
            let left = try await miss(operation, attempt: operation.attempts)
            if left == 0 { return }
        }
    }

    func miss(
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
    static func most(since start: ContinuousClock.Instant) -> Int {
        20 * (Int((ContinuousClock.now - start) / .seconds(1)) + 2)
    }

    func count(of member: String) -> Int { calls.seen.filter { $0 == member }.count }

    /// Answers again, including calls that are still unanswered.
    func speak() {
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

    func verify(
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

    func enroll(
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

    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void> {
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

    func listTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[Template]> {
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

    func renameTemplate(
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

    func removeTemplate(
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

    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        templateUpdates.record(operation)
        return answer("Learn") { () throws(DBusError) in
            if let learnError = self.learnError { throw DBusError(learnError, "scripted") }
            return true
        }
    }

    func listLearned(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> {
        answer("ListLearned") { () throws(DBusError) in
            if let learnError = self.learnError { throw DBusError(learnError, "scripted") }
            return self.learned
        }
    }

    func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answer("RemoveLearned") { () throws(DBusError) in
            if let removeError = self.removeError { throw DBusError(removeError, "scripted") }
            self.learned.removeAll { $0.id == id }
        }
    }

    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        answer("RemoveAllTemplates") { () throws(DBusError) in
            if let error = self.removalOfAllError {
                self.templates[uid]?.removeFirst()
                throw DBusError(error, "scripted")
            }
            return UInt32(self.templates.removeValue(forKey: uid)?.count ?? 0)
        }
    }

    func health(call: IncomingCall) throws(DBusError) -> Answer<(state: String, message: String)> {
        answer("Health") { (state: self.state, message: self.health) }
    }

    func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32] { versions }
    func description(for peer: Peer?) throws(DBusError) -> String { "A scripted sensor." }
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { type }
    func strength(for peer: Peer?) throws(DBusError) -> String {
        onLook?()
        if let propertyError { throw DBusError(propertyError, "scripted") }
        return saidStrength
    }
    func present(for peer: Peer?) throws(DBusError) -> Bool { isPresent }
    func unavailability(for peer: Peer?) throws(DBusError) -> String { reason }
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { 2 }
    func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32 { 0 }
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String] { words }
}

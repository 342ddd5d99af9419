import AuthEngine
import DBus
import LocalAuthBus

/// One sensor: its name, who owns it on the bus, what it says of itself, what runs on it.
@BusActor
final class SensorLink {
    /// The protocol versions that this daemon speaks.
    static let versions: Set<UInt32> = [1]
    /// How long a sensor may take to answer a question that needs no person.
    static let patience = Duration.seconds(5)
    /// Where every sensor has its object.
    static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    /// What became of a sensor's process.
    enum State: Equatable {
        /// Being asked who it is.
        case probing
        /// It answers.
        case ready
        /// It can't be used, for this reason.
        case broken(String)
    }

    /// The last element of its bus name.
    let name: String
    private(set) var owner: String?
    private(set) var state = State.probing
    private(set) var facts = SensorProperties()
    /// The ids of each user's templates, as last listed from this owner.
    private(set) var templates: [UInt32: [String]] = [:]
    /// What it runs, by the number that it was told.
    private var operations: [UInt64: Operation] = [:]
    private var sources: [EventSource] = []
    private let connection: Connection
    private let events: any SensorEvents

    /// One thing that the sensor was asked to do.
    private struct Operation {
        var report: @BusActor (SensorProgress) -> Void
        var overdue: EventSource?
    }

    init(name: String, connection: Connection, events: any SensorEvents) {
        self.name = name
        self.connection = connection
        self.events = events
    }

    /// The reason why it can't be used; empty when it can.
    var unavailability: String {
        switch state {
        case .probing: "no-hardware"
        case .broken(let reason): reason
        case .ready where !facts.unavailability.isEmpty: facts.unavailability
        case .ready: facts.isPresent ? "" : "no-hardware"
        }
    }

    /// Whether it is there at all.
    var isAway: Bool { owner == nil || (state == .ready && !facts.isPresent) }

    var isUsable: Bool { unavailability.isEmpty }

    var proxy: Sensor1Proxy? {
        owner.map { Sensor1Proxy(connection, destination: $0, path: Self.path) }
    }

    // MARK: - Who it is

    /// Another process owns the name now, or none.
    func ownerChanged(_ owner: String?) {
        guard owner != self.owner else { return }
        detach()
        self.owner = owner
        guard let owner else { return }
        state = .probing
        onLoop { await self.probe(owner) }
    }

    /// Forgets the process; what ran on it ended.
    func detach() {
        for source in sources { source.cancel() }
        sources = []
        owner = nil
        templates = [:]
        let ended = operations
        operations = [:]
        for operation in ended.values {
            operation.overdue?.cancel()
            operation.report(.ended)
        }
    }

    /// Its process ended in a way that was not announced; the name can still be started.
    func crashed() {
        settle(.broken("crashed"))
    }

    private func probe(_ owner: String) async {
        do throws(DBusError) {
            let peer = try await connection.peer(named: owner)
            guard self.owner == owner else { return }
            guard events.isTrusted(uid: peer.uid) else { return settle(.broken("untrusted")) }
            let proxy = Sensor1Proxy(connection, destination: owner, path: Self.path)
            subscribe(to: proxy, of: owner)
            let properties = try await proxy.properties(timeout: Self.patience)
            guard self.owner == owner else { return }
            guard facts.update(properties) else { return settle(.broken("failed")) }
            settle(
                facts.versions.isDisjoint(with: Self.versions) ? .broken("incompatible") : .ready
            )
        } catch {
            guard self.owner == owner else { return }
            settle(.broken("failed"))
        }
    }

    private func settle(_ state: State) {
        self.state = state
        events.sensorChanged(self)
    }

    private func subscribe(to proxy: Sensor1Proxy, of owner: String) {
        sources = [
            proxy.onEvent { [weak self] operation, kind, detail in
                self?.received(operation: operation, kind: kind, detail: detail)
            },
            proxy.onTemplatesChanged { [weak self] uid in
                guard let self else { return }
                events.templatesChanged(self, uid: uid)
            },
            proxy.onPropertiesChanged { [weak self] changed, _ in
                guard let self, state == .ready || state == .probing else { return }
                if !facts.update(changed) { state = .broken("failed") }
                events.sensorChanged(self)
            },
        ]
    }

    // MARK: - What it knows

    /// Asks for a user's templates; nil when it doesn't answer.
    func listTemplates(of uid: UInt32) async -> [Template]? {
        guard isUsable, let proxy, let asked = owner else { return nil }
        do throws(DBusError) {
            let list = try await proxy.listTemplates(uid: uid, timeout: Self.patience)
            guard owner == asked, list.count <= 256,
                list.allSatisfy({ $0.id.utf8.count <= 256 && $0.label.utf8.count <= 1024 })
            else { return nil }
            templates[uid] = list.map(\.id).sorted()
            return list
        } catch {
            if owner == asked, error.name == .timeout || error.name == .noReply {
                settle(.broken("failed"))
            }
            return nil
        }
    }

    // MARK: - What it does

    /// Looks for the user until something comes of it.
    func verify(
        operation: UInt64,
        uid: UInt32,
        report: @escaping @BusActor (SensorProgress) -> Void
    ) {
        run(operation, report) { proxy throws(DBusError) in
            try await proxy.verify(operation: operation, uid: uid, options: [:])
        }
    }

    /// Enrols the user.
    func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        report: @escaping @BusActor (SensorProgress) -> Void
    ) {
        run(operation, report) { proxy throws(DBusError) in
            try await proxy.enroll(operation: operation, uid: uid, label: label, options: [:])
        }
    }

    private func run(
        _ operation: UInt64,
        _ report: @escaping @BusActor (SensorProgress) -> Void,
        _ call: @escaping @BusActor @Sendable (Sensor1Proxy) async throws(DBusError) -> String
    ) {
        guard isUsable, let proxy else { return report(.ended) }
        operations[operation] = Operation(report: report)
        onLoop {
            var end: SensorProgress
            do throws(DBusError) {
                let template = try await call(proxy)
                end = template.utf8.count <= 256 ? .finished(template: template) : .ended
            } catch {
                end =
                    error.name == .sensorDuplicate || error.name == .sensorFull
                    ? .refused(error) : .ended
            }
            self.finish(operation, end)
        }
    }

    private func finish(_ number: UInt64, _ end: SensorProgress) {
        guard let operation = operations.removeValue(forKey: number) else { return }
        operation.overdue?.cancel()
        operation.report(end)
    }

    /// Cancels without waiting; a sensor that goes on for longer than its patience has failed.
    func cancel(operation: UInt64) {
        guard let proxy, operations[operation] != nil else { return }
        onLoop { try? await proxy.cancel(operation: operation, timeout: Self.patience) }
        operations[operation]?.overdue = EventLoop.shared.schedule(after: Self.patience) {
            [weak self] in
            guard let self, operations.removeValue(forKey: operation) != nil else { return }
            settle(.broken("failed"))
        }
    }

    private func received(operation: UInt64, kind: String, detail: [String: Variant]) {
        guard let running = operations[operation], running.overdue == nil else { return }
        switch kind {
        case "ready": running.report(.ready)
        case "no-match": running.report(.mismatched)
        case "hint":
            if let hint = detail["hint"]?.asString, Self.isWord(hint) {
                running.report(.hinted(hint))
            }
        case "stage":
            running.report(
                .stage(
                    min(detail["stage"]?.asUInt32 ?? 0, 1000),
                    of: min(detail["stages"]?.asInt32 ?? -1, 1000)
                )
            )
        default: break
        }
    }

    /// Whether a hint is one word of the kind that the contract lists.
    private static func isWord(_ hint: String) -> Bool {
        !hint.isEmpty && hint.utf8.count <= 64
            && hint.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
    }
}

/// What comes of an operation.
enum SensorProgress {
    case ready
    case hinted(String)
    case mismatched
    case stage(UInt32, of: Int32)
    /// The last word: a match, or a new template.
    case finished(template: String)
    /// The last word: an enrolment that can't be, and why.
    case refused(DBusError)
    /// The last word: a fault, a lost sensor, canceled.
    case ended
}

/// What the service wants to hear of its sensors.
@BusActor
protocol SensorEvents: AnyObject {
    /// Whether a process of this user may be a sensor.
    func isTrusted(uid: UInt32) -> Bool
    /// What a sensor says of itself, or its state, is another now.
    func sensorChanged(_ sensor: SensorLink)
    /// A sensor says that a user's templates changed.
    func templatesChanged(_ sensor: SensorLink, uid: UInt32)
}

/// What a sensor says of itself, bounded.
struct SensorProperties: Equatable {
    var versions: Set<UInt32> = []
    var description = ""
    var type = BiometryType.none
    var strength = Strength.convenience
    var isPresent = false
    var unavailability = ""
    var enrollStages: Int32 = -1

    /// Takes over what is known of `properties`; false when a value is of a wrong type or none of
    /// those that exist.
    mutating func update(_ properties: [String: Variant]) -> Bool {
        for (name, value) in properties {
            switch name {
            case "ProtocolVersions":
                guard case .array(_, let list) = value, list.count <= 64 else { return false }
                versions = Set(list.compactMap(\.asUInt32))
            case "Description":
                guard let text = value.asString else { return false }
                description = DisplayText.cleaned(text, limit: DisplayText.titleLimit)
            case "BiometryType":
                guard let type = value.asUInt32.flatMap(BiometryType.init) else { return false }
                self.type = type
            case "Strength":
                guard let strength = value.asString.flatMap(Strength.init) else { return false }
                self.strength = strength
            case "Present":
                guard let isPresent = value.asBool else { return false }
                self.isPresent = isPresent
            case "Unavailability":
                guard let text = value.asString, text.utf8.count <= 64 else { return false }
                unavailability = DisplayText.cleaned(text, limit: 64)
            case "EnrollStages":
                guard let stages = value.asInt32 else { return false }
                enrollStages = max(-1, min(stages, 1000))
            default: break
            }
        }
        return true
    }
}

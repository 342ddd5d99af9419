import AuthEngine
package import AuthStore
import BusGuard
import CLinux
package import DBus
import Glibc
package import KeychainStore
import LocalAuthBus
import Sealing
import ServiceProgram

/// The daemon: connects the objects on the bus to one engine.
///
/// Everything runs on the loop's thread. The service and its parts hold strong references to each
/// other, because they live as long as the process.
@BusActor
package final class AuthService {
    let connection: Connection
    let neighbours: NeighbourGuard
    /// The key to which callers seal secrets, new at each start (L32).
    let sealingKey = SealingKey()
    let audit: AuditTrail
    /// Where a damaged database was moved at this start; nil if the database was sound.
    let setAside: String?
    var configuration: Configuration
    /// The current mistake in the settings, until the administrator corrects it.
    var mistake: ConfigurationMistake?
    private let store: AuthStore
    let keychain: Keychain?
    let readConfiguration: (@Sendable () throws(ConfigurationError) -> Configuration)?
    private let engine: AuthEngine
    private let loadedEnrolments: [UInt32: Enrolment]
    private let sensorDescriptions: SensorDescriptions?
    private let shadowFile: String?
    private let deviceRecords: String?
    private let initialMistake: ConfigurationError?

    // The parts, ordered from independent parts to parts that depend on others. A part reports
    // upwards through a protocol named after it, which the service implements.
    private(set) lazy var clients: Clients = Clients { [self] client in
        clientDisconnected(client)
    }
    private(set) lazy var sessions = Sessions(
        connection: connection,
        lanes: neighbours.lanes,
        events: self
    )
    private(set) lazy var sensors = SensorDirectory(
        connection: connection,
        neighbours: neighbours,
        descriptions: sensorDescriptions,
        deviceRecords: deviceRecords,
        events: self
    )
    private(set) lazy var enrolments = Enrolments(
        loadedEnrolments,
        store: store,
        sensors: sensors,
        events: self
    )
    private(set) lazy var verifier: PasscodeVerifier = PasscodeVerifier(
        connection: connection,
        lanes: neighbours.lanes,
        isSystemBus: isSystemBus,
        shadowFile: shadowFile
    ) { [self] uid, state in
        items.passcodeFound(uid, state)
    }
    private(set) lazy var agents = AgentDirectory(
        connection: connection,
        sessions: sessions,
        clients: clients,
        audit: audit,
        events: self
    )
    private(set) lazy var administration = Administration(
        connection: connection,
        lanes: neighbours.lanes
    )
    private(set) lazy var monitors = Monitors(connection: connection)
    private(set) lazy var saves = RecordSaves(store: store, audit: audit)
    private(set) lazy var evaluations: Evaluations = Evaluations(
        engine: engine,
        keychainStrength: configuration.keychainStrength,
        connection: connection,
        neighbours: neighbours,
        sealingKey: sealingKey,
        agents: agents,
        sensors: sensors,
        verifier: verifier,
        facts: FactFinder(
            enrolments: enrolments,
            verifier: verifier,
            sessions: sessions,
            connection: connection
        ),
        saves: saves,
        clients: clients
    ) { [self] evaluation, outcome in
        let report = EvaluationReport(evaluation, outcome)
        audit.write(report.record)
        monitors.tell(report)
    }
    private(set) lazy var manager = AuthenticationObject(service: self)
    private(set) lazy var items: KeychainObject = KeychainObject(
        keychain: keychain,
        evaluations: evaluations,
        enrolments: enrolments,
        verifier: verifier,
        audit: audit
    )
    private(set) var devices: [String: DeviceObject] = [:]
    private var announcedTypes: [BiometryType] = []
    private var trimming: EventSource?
    private var agentAnnouncements = Allowance(limit: 20)
    private var agentAnnouncement: EventSource?

    /// Creates a service that exports no objects yet.
    ///
    /// - Parameters:
    ///   - connection: the bus to serve.
    ///   - store: keeps lockout counters and enrolment generations.
    ///   - state: the store's content at the start.
    ///   - configuration: the administrator's settings.
    ///   - mistake: why the settings can't be used; the service refuses every call until it is
    ///     corrected.
    ///   - keychain: keeps items and keys; nil disables the keychain.
    ///   - sensorDescriptions: which users may run a sensor; nil allows root and the service's own
    ///     user.
    ///   - shadowFile: a file that changes when a password is set or removed; nil disables the
    ///     watch.
    ///   - deviceRecords: udev's records of devices; nil if there are none.
    ///   - rereadConfiguration: reads the settings again for `reload()`.
    ///   - journal: the journal's socket for audit records.
    package init(
        connection: Connection,
        store: AuthStore,
        state: LoadedState,
        configuration: Configuration,
        mistake: ConfigurationError? = nil,
        keychain: Keychain? = nil,
        sensorDescriptions: SensorDescriptions? = nil,
        shadowFile: String? = nil,
        deviceRecords: String? = nil,
        rereadConfiguration: (@Sendable () throws(ConfigurationError) -> Configuration)? = nil,
        journal: String = "/run/systemd/journal/socket"
    ) {
        self.connection = connection
        self.store = store
        self.configuration = configuration
        self.keychain = keychain
        self.sensorDescriptions = sensorDescriptions
        self.shadowFile = shadowFile
        self.deviceRecords = deviceRecords
        initialMistake = mistake
        readConfiguration = rereadConfiguration
        setAside = state.setAside
        loadedEnrolments = state.enrolments
        neighbours = NeighbourGuard(
            connection,
            quota: CallQuota(
                table: MethodQuotas.table,
                limits: MethodQuotas.limits(configuration),
                bytesPerUser: MethodQuotas.bytesPerUser,
                bytesOfAll: MethodQuotas.bytesOfAll
            )
        )
        let audit = AuditTrail(path: journal, records: state.records, unknown: state.unknown)
        self.audit = audit
        connection.onRefusal = { [neighbours] peer, member, error in
            // Callers that left without a signal may still occupy quota.
            if error.name == .limitsExceeded { neighbours.sweep() }
            guard let record = AuditRecord(refusalOf: member, of: peer.uid, error) else { return }
            audit.write(record, by: peer)
        }
        let isSystemBus = connection.address == .system
        engine = AuthEngine(
            settings: configuration.engineSettings(isSystemBus: isSystemBus),
            records: state.records,
            unknown: state.unknown,
            since: Self.beginning(isSystemBus: isSystemBus, now: .now())
        )
    }

    /// Returns the start of the password interval for a user who has given no password yet (L11).
    ///
    /// On the system bus the interval starts at boot, because a restart of the service is no boot.
    /// A session's service starts with the login.
    nonisolated static func beginning(isSystemBus: Bool, now: Instant) -> Instant {
        isSystemBus ? Instant(nanoseconds: 0) : now
    }

    /// Puts the objects on the bus and looks for sensors, then takes the name.
    ///
    /// Waits for sensors that the bus has to start. Then the first calls after a boot get the same
    /// answers as later calls, properties included (L26).
    ///
    /// - Throws: Failed if the name is taken.
    package func start() async throws(DBusError) {
        // Keep other processes of the service's user from reading this process's memory.
        if isSystemBus { _ = forbid_tracing() }
        connection.serveObjectManager(at: Authentication1.path)
        let host = SensorHostObject(evaluations: evaluations)
        connection.export(
            Authentication1.path,
            [Authentication1Interface(manager), SensorHost1Interface(host)]
        ) { [manager] in manager.preparation(for: $0, of: $1) }
        connection.export(Keychain1.path, [Keychain1Interface(items)])
        sensors.disabled = Set(configuration.disabledSensors)
        // Refuse calls before any object can receive one.
        if let initialMistake { found(initialMistake, isRefusing: true) }
        sessions.start()
        sensors.start()
        verifier.start()
        sweepLater()
        await sensors.settled()
        try connection.requestName(Authentication1.busName)
        audit.write(AuditRecord(.serviceStarted))
        onLoop {
            do throws(KeychainError) {
                try await self.keychain?.doFormerWork()
            } catch {
                log(.error, "the keychain can't be opened: \(error)")
            }
        }
        if let setAside { audit.write(AuditRecord(.databaseSetAside, [.file: setAside])) }
    }

    /// Ends every evaluation with SystemCancel, then flushes pending writes.
    package func stop() async {
        evaluations.handle(.stopping)
        for device in devices.values { device.stop() }
        await withCheckedContinuation { continuation in
            onLoop { continuation.resume() }
        }
        // Close the journal first: if the bus stalls, the process may end before its calls return.
        audit.close()
        connection.flush()
        connection.releaseName(Authentication1.busName)
        connection.flush()
        store.close()
        await keychain?.close()
    }

    var isSystemBus: Bool { connection.address == .system }

    /// Frees the memory of departed connections periodically, although each decision checks for
    /// them anyway.
    private func sweepLater() {
        _ = EventLoop.shared.schedule(after: .seconds(600)) { [weak self] in
            guard let self else { return }
            onLoop { await self.connection.refreshNames() }
            sweepLater()
        }
    }

    private func clientDisconnected(_ client: Client) {
        evaluations.handle(.clientGone(client.id))
        let hadContexts = !client.contexts.isEmpty
        for context in client.contexts.values {
            evaluations.handle(.released(context.id))
            context.remove()
        }
        if hadContexts { giveBackMemory() }
    }

    /// Returns freed memory to the system once after a second, so that clients that leave together
    /// share one trim.
    private func giveBackMemory() {
        guard trimming == nil else { return }
        trimming = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            self?.trimming = nil
            _ = malloc_trim(0)
        }
    }

    private func sensorsChanged() {
        enrolments.sensorsChanged()
        for uid in Set(clients.contexts.map(\.client.peer.uid)) {
            onLoop { await self.enrolments.refresh(uid) }
        }
        let types = sensors.types
        guard types != announcedTypes else { return }
        announcedTypes = types
        announce("BiometryType", "BiometryTypes")
        for context in clients.contexts { context.announce("BiometryType") }
    }

    private func announce(_ properties: String...) {
        connection.propertiesChanged(
            Authentication1.path,
            Authentication1Interface(manager),
            properties
        )
    }
}

// MARK: - What the parts tell

extension AuthService: SensorEvents {
    func sensorChanged(_ sensor: SensorLink) {
        guard sensors.sensors[sensor.name] === sensor else { return }
        audit.changed(sensor)
        if let device = devices[sensor.name] {
            device.announce()
        } else {
            let device = DeviceObject(
                sensor: sensor,
                connection: connection,
                evaluations: evaluations,
                enrolments: enrolments,
                sessions: sessions,
                administration: administration
            )
            devices[sensor.name] = device
            device.export()
        }
        sensorsChanged()
    }

    func sensorArrived(_ sensor: SensorLink) {
        enrolments.sensorsChanged()
    }

    func sensorRemoved(_ sensor: SensorLink) {
        if let device = devices.removeValue(forKey: sensor.name) {
            connection.unexport(device.path)
        }
        sensorsChanged()
    }

    func templatesChanged(_ sensor: SensorLink, uid: UInt32) {
        enrolments.templatesChanged(at: sensor.name, uid: uid)
    }

    func refreshTemplates(_ uid: UInt32) async {
        await enrolments.refresh(uid)
    }
}

extension AuthService: EnrolmentEvents {
    func isAskedFor(_ uid: UInt32) -> Bool { clients.contextCount(of: uid) > 0 }

    func enrolmentWillChange(_ uid: UInt32) {
        evaluations.handle(.enrolmentChanged(uid: uid))
    }

    func enrolmentChanged(_ uid: UInt32) {
        audit.write(AuditRecord(.enrolmentChanged, uid: uid))
        items.enrolmentChanged(uid)
    }

    func domainStateChanged(_ uid: UInt32) {
        for context in clients.contexts(of: uid) { context.announce("DomainState") }
    }

    func learned(of uid: UInt32, at sensor: String, _ change: LearnedChange, lostReply: DBusError?)
    {
        audit.write(
            AuditRecord(
                .learnedChanged,
                uid: uid,
                [
                    .sensor: sensor, .operation: change.rawValue,
                    .outcome: lostReply?.outcome ?? "Success",
                ]
            )
        )
    }
}

extension AuthService: AgentEvents {
    func canRegister(_ agent: Agent) -> Bool {
        evaluations.engine.canRegister(
            uid: agent.uid,
            session: agent.session,
            kind: agent.kind,
            client: agent.client
        )
    }

    func agentRegistered(_ agent: Agent) {
        evaluations.handle(.agentRegistered(agent))
    }

    func agentLeft(_ id: AgentID) {
        evaluations.handle(.agentGone(id))
    }

    /// Limits the rate, because every connection receives this signal.
    func agentsChanged() {
        guard agentAnnouncement == nil else { return }
        guard !agentAnnouncements.take(at: Instant.now()) else { return announce("Interactive") }
        agentAnnouncement = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            self?.agentAnnouncement = nil
            self?.announce("Interactive")
        }
    }
}

extension AuthService: SessionEvents {
    func happened(_ event: Event) {
        evaluations.handle(event)
        let ended: (session: String?, refusal: Refusal)
        switch event {
        case .interrupted(let session, let interruption): ended = (session, interruption.refusal)
        case .suspending: ended = (nil, Absence.asleep.refusal)
        default: return
        }
        for device in devices.values { device.interrupted(ended.session, ended.refusal) }
    }

    func surroundingsChanged(_ surroundings: Surroundings) {
        sensors.surroundings = surroundings
    }

    func sessionEnded(_ session: String?) {
        evaluations.handle(.sessionEnded(session: session))
        agents.leave(session: session)
    }

    func sessionsRearranged() {
        agents.reassignSessions()
    }

    func callersChanged() {
        agentsChanged()
    }

    func wokeUp() {
        sensors.recover()
    }

    func sensorsIdle() async {
        await sensors.idle()
    }

    var passcodes: [UInt32: Instant] {
        evaluations.engine.records.compactMapValues(\.lastPasscode)
    }
}

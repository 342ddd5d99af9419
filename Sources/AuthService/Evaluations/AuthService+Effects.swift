import AuthEngine
import AuthStore
import DBus
import KeychainStore
import LocalAuthBus
import ServiceProgram

/// Every effect of the engine is one call to one edge.
extension AuthService {
    func perform(_ effect: Effect) {
        switch effect {
        case .lookUp(let id): lookUp(id)
        case .begin(let id, let agent, let presentation): begin(id, agent, presentation)
        case .tell(let id, let progress): tell(id, progress)
        case .end(let id, let outcome): end(id, outcome)
        case .startSensor(let operation, let id, let sensor): start(operation, id, sensor)
        case .cancelSensor(let operation): cancel(operation)
        case .verifyPasscode(let id): verify(id)
        case .takePassword(let id): takePassword(id)
        case .discardPasscode(let id):
            guard let prompt = evaluations[id]?.prompt else { return }
            prompt.channel.discard()
            prompt.channel.listen()
        case .save(let id, let uid, let record): save(id, uid, record)
        case .reply(let id, let outcome):
            guard let evaluation = evaluations.removeValue(forKey: id) else { return }
            report(evaluation, outcome)
            evaluation.reply(outcome)
        }
    }

    private func save(_ id: SaveID, _ uid: UInt32, _ record: UserRecord) {
        lastSave = id
        audit.changed(record, of: uid, lockoutAttempts: engine.settings.lockoutAttempts)
        store.save(record, uid: uid) { error in
            onLoop {
                if let error { log(.error, "a counter could not be saved: \(error)") }
                self.handle(error == nil ? .saved(id) : .saveFailed(id))
                self.savedLast = id
                while let first = self.saveWaiters.first, first.id.rawValue <= id.rawValue {
                    self.saveWaiters.removeFirst().done.resume(returning: error == nil)
                }
            }
        }
    }

    /// Returns once everything that the engine wanted written so far is on the disk.
    ///
    /// - Throws: Failed when the last of it can't be written.
    func savesDone() async throws(DBusError) {
        guard let lastSave, lastSave != savedLast else { return }
        let isWritten = await withCheckedContinuation { saveWaiters.append((lastSave, $0)) }
        guard isWritten else { throw DBusError(.failed, "The state can't be written: try again.") }
    }

    private func lookUp(_ id: EvaluationID) {
        guard let evaluation = evaluations[id] else { return }
        onLoop {
            let facts = await self.facts(
                for: evaluation.audience.peer,
                uid: evaluation.request.uid,
                isUnlock: evaluation.request.isUnlock,
                processes: evaluation.process.lineage
            )
            evaluation.session = facts.session
            self.handle(
                evaluation.audience.peer.hasLeft ? .lookUpFailed(id) : .lookedUp(id, facts)
            )
        }
    }

    /// Everything that an answer depends on, asked anew.
    ///
    /// Where the caller stands is said last: what happens to its session later is an event.
    func facts(
        for peer: Peer,
        uid: UInt32,
        isUnlock: Bool = false,
        processes: [Int32] = []
    ) async -> Facts {
        let around =
            sessions.isAbsent ? nil : onLoop { await self.sessions.refresh(peer, for: uid) }
        let templates = onLoop { await self.enrolments.refresh(uid) }
        let isPasscodeSet = await verifier.isSet(for: uid)
        await templates.value
        await around?.value
        let place = await sessions.place(of: peer, for: uid, isUnlock: isUnlock)
        var facts = Facts(
            sensors: enrolments.facts(of: uid),
            isPasscodeSet: isPasscodeSet,
            session: place.session,
            processes: processes
        )
        if place.isRemote { facts.keepSensorsFromAfar() }
        return facts
    }

    // MARK: - Prompts

    private func begin(_ id: EvaluationID, _ agent: AgentID, _ presentation: Presentation) {
        guard let evaluation = evaluations[id], let registration = agents[agent] else {
            return handle(.promptFailed(id))
        }
        do throws(DBusError) {
            let handle = Handle.random()
            let channel = try PasscodeChannel(sender: registration.peer) { [weak self] in
                self?.handle(.passcodeOffered(id))
            }
            let details = evaluation.details(presentation)
            guard let passcode = channel.takeTheirs() else { return }
            let call = try connection.startCall(
                to: registration.peer.name,
                path: registration.path,
                interface: Agent1Proxy.interface,
                member: "Begin",
                signature: "sa{sv}h",
                timeout: engine.settings.agentPatience + .seconds(1)
            ) { writer throws(DBusError) in
                try writer.write(handle)
                try writer.write(details)
                try writer.write(passcode)
            }
            evaluation.prompt = .init(handle: handle, agent: registration, channel: channel)
            prompts[handle] = id
            channel.listen()
            onLoop { self.handle(await call.hasSucceeded ? .promptBegan(id) : .promptFailed(id)) }
        } catch {
            handle(.promptFailed(id))
        }
    }

    private func end(_ id: EvaluationID, _ outcome: PromptOutcome) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt else { return }
        evaluation.prompt = nil
        prompts[prompt.handle] = nil
        prompt.channel.rest()
        send(prompt, "End", "ss") { writer throws(DBusError) in
            try writer.write(prompt.handle)
            try writer.write(outcome.rawValue)
        }
    }

    private func tell(_ id: EvaluationID, _ progress: Progress) {
        guard let evaluation = evaluations[id] else { return }
        evaluation.count(progress)
        let (kind, detail) = progress.wire
        if case .passcodeRejected = progress { evaluation.prompt?.channel.listen() }
        if let prompt = evaluation.prompt, progress != .promptShown {
            send(prompt, "Update", "ssa{sv}") { writer throws(DBusError) in
                try writer.write(prompt.handle)
                try writer.write(kind)
                try writer.write(detail)
            }
        }
        guard progress != .success else { return }
        let audience = evaluation.audience
        var announced = detail
        announced["call"] = audience.serial.map(Variant.uint32)
        connection.emit(
            path: audience.path,
            interface: audience.interface,
            member: "Event",
            signature: "sa{sv}",
            to: audience.peer.name
        ) { [announced] writer throws(DBusError) in
            try writer.write(kind)
            try writer.write(announced)
        }
    }

    private func send(
        _ prompt: Evaluation.Prompt,
        _ member: String,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        connection.send(
            to: prompt.agent.peer.name,
            path: prompt.agent.path,
            interface: Agent1Proxy.interface,
            member: member,
            signature: signature,
            encode
        )
    }

    private func verify(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt else { return }
        let uid = evaluation.request.uid
        onLoop {
            let verdict = await self.verifier.verify(uid: uid, channel: prompt.channel.ours)
            self.handle(.passcodeVerified(id, verdict))
            // After a wrong one the next is heard when the prompt was told, not before.
            guard verdict != .wrong, self.evaluations[id]?.prompt?.handle == prompt.handle else {
                return
            }
            prompt.channel.listen()
        }
    }

    private func takePassword(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt,
            let use = evaluation.password,
            let password = SecretBytes(packetOn: prompt.channel.ours)
        else { return handle(.passwordTried(id, .failed)) }
        onLoop { self.handle(.passwordTried(id, await use(password))) }
    }

    // MARK: - Sensors

    private func start(_ operation: OperationID, _ id: EvaluationID, _ name: String) {
        guard let evaluation = evaluations[id], let sensor = directory.sensors[name] else {
            return handle(.sensorEnded(operation))
        }
        looking[operation] = sensor
        let uid = evaluation.request.uid
        sensor.verify(operation: operation.rawValue, uid: uid) { [weak self] progress in
            self?.heard(progress, operation)
        }
    }

    private func heard(_ progress: SensorProgress, _ operation: OperationID) {
        switch progress {
        case .ready: handle(.sensorReady(operation))
        case .hinted(let hint): handle(.sensorHinted(operation, SensorHint(rawValue: hint)))
        case .mismatched: handle(.sensorMismatched(operation))
        case .stage: break
        case .finished(let template):
            looking[operation] = nil
            handle(.sensorMatched(operation, template: template))
        case .refused, .ended:
            looking[operation] = nil
            handle(.sensorEnded(operation))
        }
    }

    private func cancel(_ operation: OperationID) {
        looking.removeValue(forKey: operation)?.cancel(operation: operation.rawValue)
    }
}

extension Facts {
    /// No sensor is of use to who is not there (L2).
    fileprivate mutating func keepSensorsFromAfar() {
        isRemote = true
        for index in sensors.indices { sensors[index].availability = .unavailable }
    }
}

extension PendingCall {
    /// Whether the reply was one, and not an error.
    var hasSucceeded: Bool {
        get async { (try? await reply()) != nil }
    }
}

extension Progress {
    /// The kind and the detail of an `Event`, or of an agent's `Update`.
    var wire: (kind: String, detail: [String: Variant]) {
        switch self {
        case .promptShown: ("prompt-shown", [:])
        case .sensorReady(let sensor, let type):
            ("sensor-ready", ["sensor": .string(sensor), "biometry-type": .uint32(type.rawValue)])
        case .hint(let hint): ("hint", ["hint": .string(hint.rawValue)])
        case .noMatch(let left): ("no-match", ["attempts-left": .uint32(UInt32(clamping: left))])
        case .fallbackAvailable: ("fallback-available", [:])
        case .confirmationRequired: ("confirmation-required", [:])
        case .passcodeRequired(let cause): ("passcode-required", ["cause": .string(cause.rawValue)])
        case .passcodeRejected(let left):
            ("passcode-rejected", ["attempts-left": .uint32(UInt32(clamping: left))])
        case .success: ("success", [:])
        }
    }
}

/// Names of objects and prompts that nobody can guess.
enum Handle {
    /// 128 random bits as 32 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        for _ in 0..<2 {
            var bits: UInt64 = generator.next()
            for _ in 0..<16 {
                result.append(digits[Int(bits & 15)])
                bits >>= 4
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

import AuthEngine
import AuthStore
import DBus
import KeychainStore
import LocalAuthBus

/// Every effect of the engine is one call to one edge.
extension Evaluations {
    func perform(_ effect: Effect) {
        switch effect {
        case .lookUp(let id): lookUp(id)
        case .begin(let id, let agent, let presentation): begin(id, agent, presentation)
        case .tell(let id, let progress): tell(id, progress)
        case .end(let id, let outcome): end(id, outcome)
        case .startSensor(let operation, let id, let sensor): start(operation, id, sensor)
        case .cancelSensor(let operation): cancel(operation)
        case .answerMismatch(let operation, let attempt, let answer):
            let miss = Miss(operation: operation, attempt: attempt)
            for call in misses.removeValue(forKey: miss) ?? [] { call.resume(returning: answer) }
        case .learn(let operation, let id, let sensor): learn(from: operation, id, sensor)
        case .verifyPasscode(let id): verify(id)
        case .takePassword(let id): takePassword(id)
        case .discardPasscode(let id):
            guard let prompt = pending[id]?.prompt else { return }
            prompt.channel.discard()
            prompt.channel.listen()
        case .listen(let id): pending[id]?.prompt?.channel.listen()
        case .save(let id, let uid, let record):
            // An attempt that is only counted in advance is no decision yet.
            let decided = engine.records[uid] ?? record
            saves.save(id, uid, record, deciding: decided, engine.settings.lockoutAttempts) {
                self.handle($0 ? .saved(id) : .saveFailed(id))
            }
        case .reply(let id, let outcome):
            guard let evaluation = pending.removeValue(forKey: id) else { return }
            report(evaluation, outcome)
            evaluation.reply(outcome)
        }
    }

    private func lookUp(_ id: EvaluationID) {
        guard let evaluation = pending[id] else { return }
        let peer = evaluation.audience.peer
        // Its parents matter only where an agent serves a process.
        let processes = engine.servesProcesses ? CallerProcess.lineage(of: peer.pid) : []
        onLoop {
            let facts = await self.facts.find(
                for: peer,
                uid: evaluation.request.uid,
                isUnlock: evaluation.request.isUnlock,
                isDecision: true,
                patience: Enrolments.Patience(evaluation.request),
                processes: processes
            )
            evaluation.session = facts.session
            self.handle(peer.hasLeft ? .lookUpFailed(id) : .lookedUp(id, facts))
        }
    }

    // MARK: - Prompts

    private func begin(_ id: EvaluationID, _ agent: AgentID, _ presentation: Presentation) {
        guard let evaluation = pending[id], let registration = agents[agent] else {
            return handle(.promptFailed(id))
        }
        let uid = evaluation.request.uid
        guard !connection.budget.begin(.prompts, for: uid) else {
            return open(id, evaluation, agent, registration, presentation)
        }
        evaluation.waitsForPlace = true
        onLoop {
            do throws(DBusError) {
                try await self.connection.budget.wait(.prompts, for: uid)
            } catch {
                return self.handle(.promptFailed(id))
            }
            guard evaluation.waitsForPlace else {
                return self.connection.budget.end(.prompts, for: uid)
            }
            evaluation.waitsForPlace = false
            self.open(id, evaluation, agent, registration, presentation)
        }
    }

    /// Has an agent show the prompt.
    ///
    /// Its place is given back when the agent has answered or left, however long after the prompt
    /// that is: until then the bus counts the call as unanswered.
    private func open(
        _ id: EvaluationID,
        _ evaluation: PendingEvaluation,
        _ agent: AgentID,
        _ registration: AgentDirectory.Registration,
        _ presentation: Presentation
    ) {
        let uid = evaluation.request.uid
        do throws(DBusError) {
            let channel = try channel(
                for: presentation.stage == .applicationPassword ? .applicationPassword : .passcode,
                id,
                registration.peer
            )
            guard let passcode = channel.takeTheirs() else {
                throw DBusError(.failed, "There is no channel.")
            }
            let prompt = PendingEvaluation.Prompt(
                handle: Handle.random(),
                agent: registration,
                channel: channel,
                proxy: Agent1Proxy(
                    connection,
                    destination: registration.peer.name,
                    path: registration.path
                )
            )
            let call = try prompt.proxy.startBegin(
                prompt: prompt.handle,
                details: evaluation.details(presentation, sensors),
                passcode: passcode,
                timeout: Connection.noTimeout
            )
            evaluation.prompt = prompt
            prompts[prompt.handle] = id
            channel.listen()
            onLoop {
                do throws(DBusError) {
                    _ = try await call.reply()
                    self.connection.budget.end(.prompts, for: uid)
                    self.handle(.promptBegan(id))
                } catch {
                    self.connection.budget.end(.prompts, for: uid)
                    guard error.name == .limitsExceeded,
                        evaluation.prompt?.handle == prompt.handle
                    else { return self.handle(.promptFailed(id)) }
                    self.withdraw(prompt, of: evaluation)
                    await pause(Self.fullQueuePause)
                    self.begin(id, agent, presentation)
                }
            }
        } catch {
            connection.budget.end(.prompts, for: uid)
            handle(.promptFailed(id))
        }
    }

    /// How long after an agent's queue on the bus had no room for a prompt it is tried again.
    ///
    /// Others have filled it with descriptors; the engine's patience ends this.
    private static let fullQueuePause = Duration.milliseconds(250)

    /// Nothing that comes by its handle or its channel counts any more.
    private func withdraw(_ prompt: PendingEvaluation.Prompt, of evaluation: PendingEvaluation) {
        evaluation.prompt = nil
        prompts[prompt.handle] = nil
        prompt.channel.rest()
    }

    private func channel(
        for purpose: PasscodeChannel.Purpose,
        _ id: EvaluationID,
        _ sender: Peer
    ) throws(DBusError) -> PasscodeChannel {
        try PasscodeChannel(for: purpose, sender: sender) { [weak self] in
            self?.handle(.passcodeOffered(id))
        }
    }

    /// The app's own password comes on a channel of its own; what still comes on the one for the
    /// passcode is never read as one.
    private func askPassword(_ id: EvaluationID, _ prompt: PendingEvaluation.Prompt) {
        do throws(DBusError) {
            let channel = try channel(for: .applicationPassword, id, prompt.agent.peer)
            guard let theirs = channel.takeTheirs() else { return }
            prompt.channel.rest()
            pending[id]?.prompt?.channel = channel
            channel.listen()
            prompt.proxy.sendUpdate(
                prompt: prompt.handle,
                kind: EventKind.applicationPasswordRequired.rawValue,
                detail: ["channel": .descriptor(theirs)]
            )
        } catch {
            handle(.promptFailed(id))
        }
    }

    private func end(_ id: EvaluationID, _ outcome: PromptOutcome) {
        pending[id]?.waitsForPlace = false
        guard let evaluation = pending[id], let prompt = evaluation.prompt else { return }
        withdraw(prompt, of: evaluation)
        prompt.proxy.sendEnd(prompt: prompt.handle, outcome: outcome.rawValue)
    }

    private func tell(_ id: EvaluationID, _ progress: Progress) {
        guard let evaluation = pending[id] else { return }
        evaluation.count(progress)
        var (kind, detail) = progress.wire
        let now = Instant.now()
        if kind == .passcodeRejected,
            let end = engine.records[evaluation.request.uid]?.delayedUntil, end > now
        {
            detail["delay"] = .uint64(UInt64((end - now) / .milliseconds(1)))
        }
        if let prompt = evaluation.prompt, progress == .applicationPasswordRequired {
            askPassword(id, prompt)
        } else if let prompt = evaluation.prompt, kind != .promptShown {
            prompt.proxy.sendUpdate(prompt: prompt.handle, kind: kind.rawValue, detail: detail)
        }
        if kind != .success { evaluation.audience.tell(kind, detail, connection) }
    }

    private func verify(_ id: EvaluationID) {
        guard let evaluation = pending[id], let channel = evaluation.prompt?.channel,
            channel.purpose == .passcode
        else { return handle(.passcodeVerified(id, .failed)) }
        let uid = evaluation.request.uid
        // Whoever leaves meanwhile, this goes on to its verdict.
        onLoop {
            let verdict = await self.verifier.verify(uid: uid, channel: channel.ours)
            let isKnown = verdict == .correct ? await self.facts.sessions.catchUp(uid) : true
            // Said in any case: it is the end of an attempt that was counted as a wrong one.
            if !isKnown { self.handle(.promptFailed(id)) }
            self.handle(.passcodeVerified(id, verdict))
        }
    }

    private func takePassword(_ id: EvaluationID) {
        guard let evaluation = pending[id], let channel = evaluation.prompt?.channel,
            channel.purpose == .applicationPassword, let use = evaluation.password
        else { return handle(.passwordTried(id, .failed)) }
        let packet: SecretBytes?
        do throws(DBusError) {
            packet = try SecretBytes(packetOn: channel.ours)
        } catch {
            // No item has a password of that length.
            return handle(.passwordTried(id, .wrong))
        }
        guard let password = packet else { return handle(.passwordTried(id, .failed)) }
        let uid = evaluation.request.uid
        onLoop {
            let verdict = await use(password)
            // As with a passcode: what was proved before it may have ended without a word.
            let isKnown = verdict == .correct ? await self.facts.sessions.catchUp(uid) : true
            self.handle(isKnown ? .passwordTried(id, verdict) : .promptFailed(id))
        }
    }

    // MARK: - Sensors

    private func start(_ operation: OperationID, _ id: EvaluationID, _ name: String) {
        guard let uid = pending[id]?.request.uid else { return handle(.sensorEnded(operation)) }
        guard let sensor = sensors.sensors[name] else {
            let error = DBusError(sensor: .sensorDisconnected)
            return received(.refused(error), operation, id, uid)
        }
        looking[operation] = sensor
        sensor.operations.verify(
            operation: operation.rawValue,
            uid: uid,
            mayLearn: engine.mayLearn(from: operation)
        ) { [weak self] progress in
            self?.received(progress, operation, id, uid)
        }
    }

    /// The passcode has confirmed a match of this sensor; nobody waits for what comes of it.
    private func learn(from operation: OperationID, _ id: EvaluationID, _ name: String) {
        guard let uid = pending[id]?.request.uid, let sensor = sensors.sensors[name] else { return }
        onLoop {
            let enrolments = self.facts.enrolments
            do throws(DBusError) {
                let hasLearned = try await sensor.templates.learn(
                    from: operation.rawValue,
                    of: uid
                )
                if hasLearned { enrolments.learned(of: uid, at: name, .added) }
            } catch {
                enrolments.learned(of: uid, at: name, .added, doubt: error)
            }
        }
    }

    /// Handles that a person confirmed, which may grant, once a lock or a sleep that was missed has
    /// ended the evaluation.
    func confirmed(_ id: EvaluationID) {
        guard let evaluation = pending[id] else { return handle(.confirmed(id)) }
        let (uid, match) = (evaluation.request.uid, evaluation.match)
        onLoop {
            // Its template may have been removed while it waited.
            if let match { _ = await match.sensor.templates.contains(match.template, of: uid) }
            let isKnown = await self.facts.sessions.catchUp(uid)
            let isTheirs = match.map { $0.sensor.templates.lists($0.template, of: uid) } ?? true
            self.handle(isKnown && isTheirs ? .confirmed(id) : .promptFailed(id))
        }
    }

    private func received(
        _ progress: SensorProgress,
        _ operation: OperationID,
        _ id: EvaluationID,
        _ uid: UInt32
    ) {
        switch progress {
        case .ready: handle(.sensorReady(operation))
        case .busy(let program): handle(.sensorBusy(operation, by: program))
        case .hinted(let hint): handle(.sensorHinted(operation, Hint(rawValue: hint)))
        case .stage: break
        case .finished(let template):
            let sensor = looking.removeValue(forKey: operation)
            let owner = sensor?.process.owner
            // A lock or a sleep that was missed ends the evaluation before the match counts; it is
            // looked for while the sensor is asked.
            var isKnown = false
            let missed = onLoop { isKnown = await self.facts.sessions.catchUp(uid) }
            onLoop {
                // That it is weaker now may have been said, and lost.
                guard let sensor, let fact = self.engine.sensor(of: operation),
                    await sensor.isStill(fact)
                else { return self.handle(.sensorEnded(operation)) }
                await missed.value
                if !sensor.templates.lists(template, of: uid) {
                    _ = await sensor.templates.contains(template, of: uid)
                    isKnown = await self.facts.sessions.catchUp(uid)
                }
                // It may have been removed meanwhile, or the sensor be another by now.
                guard sensor.templates.lists(template, of: uid), sensor.process.owner == owner,
                    sensor.isUsable, sensor.fits(fact)
                else { return self.handle(.sensorEnded(operation)) }
                self.pending[id]?.match = (sensor, template)
                self.handle(
                    isKnown ? .sensorMatched(operation, template: template) : .promptFailed(id)
                )
            }
        case .refused(let error):
            looking[operation] = nil
            let fault = SensorFault(error)
            handle(fault.map { .sensorFailed(operation, $0) } ?? .sensorEnded(operation))
        case .ended:
            looking[operation] = nil
            handle(.sensorEnded(operation))
        }
    }

    /// Counts a failed attempt; the answer comes when that is on the disk.
    func mismatched(_ operation: OperationID, attempt: UInt32) async -> MismatchAnswer {
        await withCheckedContinuation { answer in
            misses[Miss(operation: operation, attempt: attempt), default: []].append(answer)
            handle(.sensorMismatched(operation, attempt: attempt))
        }
    }

    private func cancel(_ operation: OperationID) {
        looking.removeValue(forKey: operation)?.operations.cancel(operation: operation.rawValue)
    }
}

extension SensorFault {
    /// Why an operation was refused; nil: not because of a fault.
    init?(_ error: DBusError) {
        switch error.name {
        case .sensorDenied: self.init(.denied, error.message)
        case .sensorDisconnected: self.init(.missing, error.message)
        case .sensorFailed: self.init(.failed, error.message)
        default: return nil
        }
    }
}

extension Progress {
    /// The kind and the detail of an `Event`, or of an agent's `Update`.
    var wire: (kind: EventKind, detail: [String: Variant]) {
        switch self {
        case .promptShown: (.promptShown, [:])
        case .sensorReady(let sensor, let type):
            (.sensorReady, ["sensor": .string(sensor), "biometry-type": .uint32(type.rawValue)])
        case .sensorBusy(let sensor, let type, let program):
            (
                .sensorBusy,
                [
                    "sensor": .string(sensor), "biometry-type": .uint32(type.rawValue),
                    "by": .string(program),
                ]
            )
        case .sensorFailed(let sensor, let type, let fault):
            (
                .sensorFailed,
                [
                    "sensor": .string(sensor), "biometry-type": .uint32(type.rawValue),
                    "cause": .string(fault.kind.rawValue), "message": .string(fault.message),
                ]
            )
        case .hint(let hint): (.hint, ["hint": .string(hint.rawValue)])
        case .noMatch(let left): (.noMatch, ["attempts-left": .uint32(UInt32(clamping: left))])
        case .fallbackAvailable: (.fallbackAvailable, [:])
        case .confirmationRequired: (.confirmationRequired, [:])
        case .passcodeRequired(let cause): (.passcodeRequired, ["cause": .string(cause.rawValue)])
        case .applicationPasswordRequired:
            (
                .passcodeRequired,
                ["cause": .string(PasscodeCause.applicationPassword.rawValue)]
            )
        case .passcodeRejected(let left):
            (.passcodeRejected, ["attempts-left": .uint32(UInt32(clamping: left))])
        case .passcodeNotTaken: (.passcodeRejected, ["attempts-left": .uint32(0)])
        case .success: (.success, [:])
        }
    }
}

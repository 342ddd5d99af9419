import AuthEngine
import AuthStore
import BusGuard
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// Performs the engine's effects, each by a single call to an edge.
extension Evaluations {
    func perform(_ effect: Effect) {
        switch effect {
        case .lookUp(let id): lookUp(id)
        case .begin(let id, let agent, let presentation): begin(id, agent, presentation)
        case .tell(let id, let progress): tell(id, progress)
        case .end(let id, let outcome): end(id, outcome)
        case .startSensor(let operation, let id, let sensor): start(operation, id, sensor)
        case .cancelSensor(let operation): cancel(operation)
        case .answerMiss(let operation, let attempt, let answer):
            let miss = Miss(operation: operation, attempt: attempt)
            for call in misses.removeValue(forKey: miss) ?? [] { call.resume(returning: answer) }
        case .updateTemplate(let operation, let id, let sensor):
            updateTemplate(from: operation, id, sensor)
        case .verifyPasscode(let id): verify(id)
        case .takePassword(let id): takePassword(id)
        case .save(let id, let uid, let record):
            // An attempt that is counted in advance is no decision yet.
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
        // The caller's ancestors matter only if an agent serves single processes.
        let processes = engine.servesProcesses ? CallerProcess.lineage(of: peer.pid) : []
        onLoop {
            let facts = await self.facts.queryFacts(
                for: peer,
                uid: evaluation.request.uid,
                isForLockScreen: evaluation.request.isForLockScreen,
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
        guard !neighbours.lanes.begin(.prompts, for: uid) else {
            return open(id, evaluation, registration, presentation)
        }
        evaluation.waitsForPlace = true
        onLoop {
            do throws(DBusError) {
                try await self.neighbours.lanes.wait(.prompts, for: uid)
            } catch {
                return self.handle(.promptFailed(id))
            }
            guard evaluation.waitsForPlace else {
                return self.neighbours.lanes.end(.prompts, for: uid)
            }
            evaluation.waitsForPlace = false
            self.open(id, evaluation, registration, presentation)
        }
    }

    /// Sends a prompt to an agent.
    ///
    /// The prompt's place is freed only when the agent has replied or left, even after the prompt
    /// ended. Until then the bus counts the call as unanswered.
    private func open(
        _ id: EvaluationID,
        _ evaluation: PendingEvaluation,
        _ registration: AgentDirectory.Registration,
        _ presentation: Presentation
    ) {
        let uid = evaluation.request.uid
        let key = evaluation.mayTakePasscode ? verifier.sealingKey : []
        var details = evaluation.details(presentation, sensors)
        if !key.isEmpty { details["passcode-key"] = .bytes(key) }
        let prompt = PendingEvaluation.Prompt(
            handle: Handle.random(),
            agent: registration,
            proxy: Agent1Proxy(
                connection,
                destination: registration.peer.name,
                path: registration.path
            ),
            passcodeKey: key
        )
        do throws(DBusError) {
            let call = try startBegin(prompt, details)
            evaluation.prompt = prompt
            prompts[prompt.handle] = id
            onLoop {
                var hasBegun = true
                do throws(DBusError) { _ = try await call.reply() } catch { hasBegun = false }
                self.neighbours.lanes.end(.prompts, for: uid)
                self.handle(hasBegun ? .promptBegan(id) : .promptFailed(id))
            }
        } catch {
            neighbours.lanes.end(.prompts, for: uid)
            handle(.promptFailed(id))
        }
    }

    /// Sends Begin, so that later messages to the agent arrive after it.
    private func startBegin(
        _ prompt: PendingEvaluation.Prompt,
        _ details: [String: Variant]
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: prompt.agent.peer.name,
            path: prompt.agent.path,
            interface: Agent1.interface,
            member: "Begin",
            signature: "sa{sv}",
            timeout: Connection.noTimeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt.handle)
            try writer.write(details)
        }
    }

    // MARK: - Submissions

    /// Takes a sealed password that an agent submits (contract 5.2).
    ///
    /// - Throws: AccessDenied, InvalidArgs, LimitsExceeded. An error does not count as an attempt.
    func submit(passcode: [UInt8], to handle: String, by peer: Peer) throws(DBusError) {
        let id = try evaluation(shownIn: handle, by: peer)
        guard engine.takesPasscode(id) else {
            throw .invalid("this prompt takes no password now")
        }
        guard passcode.count > SealingKey.overhead else {
            throw .invalid("a sealed password has more than \(SealingKey.overhead) bytes")
        }
        guard passcode.count <= Self.longestPasscode + SealingKey.overhead else {
            throw .exceeded("a password has at most \(Self.longestPasscode) bytes")
        }
        pending[id]?.prompt?.passcode = passcode
        self.handle(.passcodeOffered(id))
    }

    private static let longestPasscode = 1024

    /// Takes the app's own password that an agent submits.
    ///
    /// - Throws: AccessDenied, InvalidArgs, LimitsExceeded. After an error the prompt still waits.
    func submit(
        password: [UInt8],
        isSealed: Bool,
        to handle: String,
        of call: IncomingCall
    ) throws(DBusError) {
        let id = try evaluation(shownIn: handle, by: call.peer)
        guard engine.takesPassword(id) else {
            throw .invalid("this prompt does not ask for the app's own password")
        }
        let secret = try GivenSecret.take(
            password,
            isSealed: isSealed,
            with: sealingKey,
            from: call,
            refusal: .invalidArgs
        )
        pending[id]?.prompt?.password = secret
        self.handle(.passwordOffered(id))
    }

    private func end(_ id: EvaluationID, _ outcome: PromptOutcome) {
        pending[id]?.waitsForPlace = false
        guard let evaluation = pending[id], let prompt = evaluation.prompt else { return }
        evaluation.prompt = nil
        prompts[prompt.handle] = nil
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
        if kind != .promptShown { update(evaluation, progress, kind, detail) }
        if kind != .success { evaluation.audience.tell(kind, detail, connection) }
    }

    /// Sends progress to the prompt, with the verifier's key if the verifier restarted with a new
    /// key.
    private func update(
        _ evaluation: PendingEvaluation,
        _ progress: Progress,
        _ kind: EventKind,
        _ detail: [String: Variant]
    ) {
        guard let prompt = evaluation.prompt else { return }
        var (kind, detail) = (kind, detail)
        if progress == .applicationPasswordRequired {
            (kind, detail) = (.applicationPasswordRequired, [:])
        } else if kind == .passcodeRequired, verifier.sealingKey != prompt.passcodeKey {
            evaluation.prompt?.passcodeKey = verifier.sealingKey
            detail["passcode-key"] = .bytes(verifier.sealingKey)
        }
        prompt.proxy.sendUpdate(prompt: prompt.handle, kind: kind.rawValue, detail: detail)
    }

    private func verify(_ id: EvaluationID) {
        guard let evaluation = pending[id], let prompt = evaluation.prompt else {
            return handle(.passcodeVerified(id, .failed))
        }
        let (uid, sealed) = (evaluation.request.uid, prompt.passcode)
        evaluation.prompt?.passcode = []
        // Continue to the verdict even if the caller leaves, because the attempt is already
        // counted.
        onLoop {
            let verdict = await self.verifier.verify(
                uid: uid,
                prompt: prompt.handle,
                sealed: sealed
            )
            let isKnown =
                verdict == .correct ? await self.facts.revalidate(uid).hasMissedNoLock : true
            // Pass on the verdict in any case, because the engine counted the attempt as wrong in
            // advance.
            if !isKnown { self.handle(.revalidationFailed(id, .loginManagerSilent)) }
            self.handle(.passcodeVerified(id, verdict))
        }
    }

    private func takePassword(_ id: EvaluationID) {
        guard let evaluation = pending[id], let password = evaluation.prompt?.password,
            let use = evaluation.password
        else { return handle(.passwordTried(id, .failed)) }
        evaluation.prompt?.password = nil
        let uid = evaluation.request.uid
        onLoop {
            let verdict = await use(password)
            // As after a password, revalidate: an earlier proof may have ended without a signal.
            let isKnown =
                verdict == .correct ? await self.facts.revalidate(uid).hasMissedNoLock : true
            self.handle(
                isKnown
                    ? .passwordTried(id, verdict) : .revalidationFailed(id, .loginManagerSilent)
            )
        }
    }

    // MARK: - Sensors

    private func start(_ operation: OperationID, _ id: EvaluationID, _ name: String) {
        guard let uid = pending[id]?.request.uid else { return handle(.sensorEnded(operation)) }
        guard let sensor = sensors.sensors[name] else {
            let error = DBusError(sensor: .sensorDisconnected)
            return received(.refused(error), operation, id, uid)
        }
        runningSensors[operation] = sensor
        sensor.operations.verify(
            operation: operation.rawValue,
            uid: uid,
            mayUpdateTemplate: engine.mayUpdateTemplate(from: operation)
        ) { [weak self] progress in
            self?.received(progress, operation, id, uid)
        }
    }

    /// Lets the sensor learn from a match that a password confirmed, without waiting for the
    /// result.
    private func updateTemplate(from operation: OperationID, _ id: EvaluationID, _ name: String) {
        guard let uid = pending[id]?.request.uid, let sensor = sensors.sensors[name] else { return }
        onLoop {
            let enrolments = self.facts.enrolments
            do throws(DBusError) {
                let hasLearned = try await sensor.templates.updateTemplate(
                    from: operation.rawValue,
                    of: uid
                )
                if hasLearned { enrolments.learned(of: uid, at: name, .added) }
            } catch {
                enrolments.learned(of: uid, at: name, .added, lostReply: error)
            }
        }
    }

    /// Handles a person's confirmation, after a revalidation that ends the evaluation after a
    /// missed lock or sleep.
    func confirmed(_ id: EvaluationID) {
        guard let evaluation = pending[id] else { return handle(.confirmed(id)) }
        let (uid, match) = (evaluation.request.uid, evaluation.match)
        onLoop {
            // The template may have been removed since the match.
            let found = await self.facts.revalidate(uid, match: match)
            guard found.hasMissedNoLock else {
                return self.handle(.revalidationFailed(id, .loginManagerSilent))
            }
            self.handle(
                found.isMatchValid ? .confirmed(id) : .revalidationFailed(id, .templateRemoved)
            )
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
        case .hinted(let hint): handle(.sensorHinted(operation, hint))
        case .stage: break
        case .finished(let template):
            let sensor = runningSensors.removeValue(forKey: operation)
            guard let sensor, let fact = engine.sensor(of: operation) else {
                return handle(.sensorEnded(operation))
            }
            let (match, plan) = ((sensor, template), (fact, sensor.process.owner))
            onLoop {
                let found = await self.facts.revalidate(uid, match: match, plan: plan)
                guard found.isMatchValid else {
                    return self.handle(
                        found.isTemplateRemoved
                            ? .templateRemoved(operation) : .sensorEnded(operation)
                    )
                }
                self.pending[id]?.match = match
                self.handle(
                    found.hasMissedNoLock
                        ? .sensorMatched(operation, template: template)
                        : .revalidationFailed(id, .loginManagerSilent)
                )
            }
        case .templateRemoved:
            runningSensors[operation] = nil
            handle(.templateRemoved(operation))
        case .refused(let error):
            runningSensors[operation] = nil
            let fault = SensorFault(error)
            handle(fault.map { .sensorFailed(operation, $0) } ?? .sensorEnded(operation))
        case .ended:
            runningSensors[operation] = nil
            handle(.sensorEnded(operation))
        }
    }

    /// Counts a miss, and returns after the count is on the disk.
    func missed(_ operation: OperationID, attempt: UInt32) async -> MissAnswer {
        await withCheckedContinuation { answer in
            misses[Miss(operation: operation, attempt: attempt), default: []].append(answer)
            handle(.sensorMissed(operation, attempt: attempt))
        }
    }

    private func cancel(_ operation: OperationID) {
        runningSensors.removeValue(forKey: operation)?.operations
            .cancel(operation: operation.rawValue)
    }
}

extension SensorFault {
    /// Converts the error of an operation; nil if the error is no fault of the sensor.
    init?(_ error: DBusError) {
        guard let failure = SensorFailure(error.name), failure.cause != nil else { return nil }
        self.init(failure, error.message)
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
                    "cause": .string((fault.failure.cause ?? .failed).rawValue),
                    "message": .string(fault.message),
                ]
            )
        case .hint(let hint): (.hint, ["hint": .string(hint)])
        case .miss(let left): (.noMatch, ["attempts-left": .uint32(UInt32(clamping: left))])
        case .fallbackAvailable: (.fallbackAvailable, [:])
        case .confirmationRequired: (.confirmationRequired, [:])
        case .passcodeRequired(let cause):
            (
                .passcodeRequired,
                ["cause": .string(cause.word.rawValue)]
                    .merging(
                        cause.text.map {
                            [cause.word == .verifierFailed ? "message" : "text": .string($0)]
                        } ?? [:]
                    ) { old, _ in old }
            )
        case .applicationPasswordRequired:
            (
                .passcodeRequired,
                ["cause": .string(PasscodeCauseWord.applicationPassword.rawValue)]
            )
        case .passcodeRejected(let left):
            (.passcodeRejected, ["attempts-left": .uint32(UInt32(clamping: left))])
        case .passcodeNotTaken: (.passcodeRejected, ["attempts-left": .uint32(0)])
        case .success: (.success, [:])
        }
    }
}

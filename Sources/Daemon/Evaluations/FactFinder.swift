import AuthEngine
import AuthStore
import Contract
import DBus

/// Collects the facts that an answer depends on: enrolments, the password, and the caller's
/// session.
@BusActor
struct FactFinder {
    let enrolments: Enrolments
    let verifier: PasscodeVerifier
    let sessions: Sessions
    let connection: Connection

    // MARK: - For CanEvaluate

    /// Returns cached facts for an immediate answer, or nil if a fact is unknown (L11b).
    ///
    /// Also queries the sensors and the verifier in the background.
    func cachedFacts(_ policy: Policy, for peer: Peer) -> Facts? {
        let (uid, now) = (peer.uid, Instant.now())
        guard let passcode = verifier.cached(of: uid) else { return nil }
        guard policy != .biometricsOrPasscode else {
            verifier.refreshInBackground(uid, at: now)
            return Facts(passcode: passcode)
        }
        guard let place = sessions.cachedPlace(of: peer), enrolments.isCached(of: uid, at: now)
        else {
            return nil
        }
        verifier.refreshInBackground(uid, at: now)
        enrolments.refreshInBackground(uid, at: now)
        return facts(of: uid, passcode, at: place)
    }

    /// Returns the facts for CanEvaluate after querying missing facts.
    func factsForCanEvaluate(_ policy: Policy, for peer: Peer) async -> Facts {
        let uid = peer.uid
        guard policy != .biometricsOrPasscode else {
            return Facts(passcode: await verifier.currentFact(uid))
        }
        let around =
            sessions.isAbsent
            ? nil : onLoop { await sessions.refresh(peer, for: uid, isDecision: false) }
        let templates = onLoop { await enrolments.waitUntilCached(uid) }
        let passcode = await verifier.currentFact(uid)
        await templates.value
        await around?.value
        // The lid may have been opened meanwhile, so that more sensors are usable.
        if !enrolments.isComplete(for: uid) { await enrolments.refresh(uid) }
        return facts(of: uid, passcode, at: await sessions.place(of: peer, for: uid))
    }

    private func facts(
        of uid: UInt32,
        _ passcode: PasscodeFact,
        at place: Sessions.Place
    ) -> Facts {
        var facts = Facts(sensors: enrolments.facts(of: uid), passcode: passcode)
        facts.isEnrolmentKnown = enrolments.isKnown(uid)
        facts.take(place)
        if place.isRemote { facts.withholdSensors() }
        return facts
    }

    // MARK: - For decisions

    /// Queries all facts that an answer depends on.
    ///
    /// The caller's session comes last, because later changes of the session arrive as events. For
    /// a decision, also asks the bus and the login manager for events that were lost.
    func queryFacts(
        for peer: Peer,
        uid: UInt32,
        isForLockScreen: Bool = false,
        isDecision: Bool = false,
        patience: Enrolments.Patience? = nil,
        processes: [Int32] = []
    ) async -> Facts {
        let around =
            sessions.isAbsent
            ? nil : onLoop { await sessions.refresh(peer, for: uid, isDecision: isDecision) }
        // Start the slowest query first: a sensor queries the bus before it answers.
        let templates = onLoop { await enrolments.refresh(uid, waiting: patience) }
        let names = isDecision ? onLoop { await connection.refreshNames() } : nil
        let passcode = await verifier.passcode(of: uid)
        await templates.value
        await around?.value
        await names?.value
        // The lid may have been opened meanwhile, so that more sensors are usable.
        if !enrolments.isComplete(for: uid) { await enrolments.refresh(uid) }
        let isKnown = isDecision ? await sessions.catchUp(uid) : true
        let place =
            isKnown
            ? await sessions.place(of: peer, for: uid, isForLockScreen: isForLockScreen)
            : Sessions.Place()
        var facts = facts(of: uid, passcode, at: place)
        facts.hasMissedNoLock = isKnown
        facts.processes = processes
        return facts
    }

    /// The result of a revalidation of a proof.
    struct Revalidation {
        /// Whether the login manager answered, so that no change of the user's sessions is missed.
        var hasMissedNoLock = false
        /// Whether the sensor has the template and still fits the plan.
        var isMatchValid = true
        /// Whether the sensor's list lacks the template.
        var isTemplateRemoved = false
    }

    /// Revalidates every source of a proof before the proof counts, because signals may be lost.
    ///
    /// A missed lock or sleep ends the evaluation before this returns. A new `match` is compared
    /// with the `plan`: the planned sensor, and its owner at the time of the match.
    func revalidate(
        _ uid: UInt32,
        match: PendingEvaluation.Match? = nil,
        plan: (sensor: SensorFact, owner: String?)? = nil
    ) async -> Revalidation {
        var found = Revalidation()
        // Run both concurrently, because each answer takes long on a busy bus.
        let missed = onLoop { found.hasMissedNoLock = await sessions.catchUp(uid) }
        if let plan, let match, await !match.sensor.isStill(plan.sensor) {
            found.isMatchValid = false
            return found
        }
        await missed.value
        guard let (sensor, template) = match else { return found }
        if !sensor.templates.lists(template, of: uid) {
            _ = await sensor.templates.contains(template, of: uid)
            found.hasMissedNoLock = await sessions.catchUp(uid)
        }
        // Since the match, the template may have been removed or the sensor's process replaced.
        let isListed = sensor.templates.lists(template, of: uid)
        found.isMatchValid = isListed
        if let plan {
            let isSame = sensor.process.owner == plan.owner && sensor.isUsable
            found.isMatchValid = isListed && isSame && sensor.fits(plan.sensor)
            // Only a list of the process that matched proves the removal.
            found.isTemplateRemoved = isSame && !isListed && !sensor.templates.isUnknown(of: uid)
        }
        return found
    }

    /// Returns the facts that decide whether the caller can be prompted, without sensors and
    /// password.
    func findPlace(of peer: Peer, isDecision: Bool = false) async -> Facts {
        let uid = peer.uid
        // Run both concurrently, because each answer takes long on a busy bus.
        let around = onLoop { await sessions.refresh(peer, for: uid, isDecision: isDecision) }
        let isKnown = await sessions.catchUp(uid)
        await around.value
        let place = isKnown ? await sessions.place(of: peer, for: uid) : Sessions.Place()
        return Facts(place, of: peer)
    }

    /// Returns cached facts about the caller's session, or nil if the session is unknown.
    ///
    /// A look-up then announces the result.
    ///
    /// Also queries the login manager in the background.
    func knownPlace(of peer: Peer) -> Facts? {
        guard let place = sessions.knownPlace(of: peer) else { return nil }
        sessions.refreshInBackground(peer.uid, at: Instant.now())
        return Facts(place, of: peer)
    }
}

extension Facts {
    @BusActor
    fileprivate init(_ place: Sessions.Place, of peer: Peer) {
        self.init(processes: CallerProcess.lineage(of: peer.pid))
        take(place)
    }

    fileprivate mutating func take(_ place: Sessions.Place) {
        session = place.session
        absence = place.absence
        isRemote = place.isRemote
        isInNoSession = place.isInNoSession
    }
}

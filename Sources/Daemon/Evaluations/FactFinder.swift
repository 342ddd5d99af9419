import AuthEngine
import AuthStore
import Contract
import DBus

/// Finds out what an answer depends on: enrolments, the passcode, and where the caller stands.
@BusActor
struct FactFinder {
    let enrolments: Enrolments
    let verifier: PasscodeVerifier
    let sessions: Sessions
    let connection: Connection

    // MARK: - For CanEvaluate

    /// What an answer depends on, as it was told; nil: some of it isn't known (L11b).
    ///
    /// It is answered at once. Behind the answer sensors and verifier are asked all the same.
    func told(_ policy: Policy, to peer: Peer) -> Facts? {
        let (uid, now) = (peer.uid, Instant.now())
        guard let passcode = verifier.told(of: uid) else { return nil }
        guard policy != .biometricsOrPasscode else {
            verifier.askBehind(uid, at: now)
            return Facts(passcode: passcode)
        }
        guard let place = sessions.toldPlace(of: peer), enrolments.isTold(of: uid, at: now) else {
            return nil
        }
        verifier.askBehind(uid, at: now)
        enrolments.askBehind(uid, at: now)
        return facts(of: uid, passcode, at: place)
    }

    /// The same once it is known: what isn't is asked.
    func findOut(_ policy: Policy, for peer: Peer) async -> Facts {
        let uid = peer.uid
        guard policy != .biometricsOrPasscode else {
            return Facts(passcode: await verifier.findOut(uid))
        }
        let around =
            sessions.isAbsent
            ? nil : onLoop { await sessions.refresh(peer, for: uid, isDecision: false) }
        let templates = onLoop { await enrolments.findOut(uid) }
        let passcode = await verifier.findOut(uid)
        await templates.value
        await around?.value
        // The lid may have been found open meanwhile.
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

    /// Everything that an answer depends on, asked anew.
    ///
    /// Where the caller stands is said last: what happens to its session later is an event. For a
    /// decision the bus and the login manager are asked whether such an event was missed.
    func find(
        for peer: Peer,
        uid: UInt32,
        isUnlock: Bool = false,
        isDecision: Bool = false,
        patience: Enrolments.Patience? = nil,
        processes: [Int32] = []
    ) async -> Facts {
        let around =
            sessions.isAbsent
            ? nil : onLoop { await sessions.refresh(peer, for: uid, isDecision: isDecision) }
        // First what takes longest: a sensor asks the bus before it answers.
        let templates = onLoop { await enrolments.refresh(uid, waiting: patience) }
        let names = isDecision ? onLoop { await connection.catchUpWithNames() } : nil
        let passcode = await verifier.passcode(of: uid)
        await templates.value
        await around?.value
        await names?.value
        // The lid may have been found open meanwhile.
        if !enrolments.isComplete(for: uid) { await enrolments.refresh(uid) }
        let isKnown = isDecision ? await sessions.catchUp(uid) : true
        let place =
            isKnown
            ? await sessions.place(of: peer, for: uid, isUnlock: isUnlock) : Sessions.Place()
        var facts = facts(of: uid, passcode, at: place)
        facts.isPlaceKnown = isKnown
        facts.processes = processes
        return facts
    }

    /// The answers of the sources of a proof, from before the proof counts.
    struct Revalidation {
        /// Whether the login manager says all that happened to the user's sessions.
        var isPlaceKnown = false
        /// Whether the sensor has the template, and is what the plan rests on.
        var isMatchValid = true
        /// Whether the template is missing in the sensor's list.
        var isTemplateRemoved = false
    }

    /// Asks every source that a proof rests on, before the proof counts: signals about a lock, a
    /// sleep, a sensor or a template may be lost.
    ///
    /// A lock or a sleep that was missed ends the evaluation before this returns. A new `match` is
    /// compared with the `plan`: the sensor as the plan knows it, and its owner when it matched.
    func revalidate(
        _ uid: UInt32,
        match: PendingEvaluation.Match? = nil,
        plan: (sensor: SensorFact, owner: String?)? = nil
    ) async -> Revalidation {
        var found = Revalidation()
        // At the same time: on a busy bus each answer takes long.
        let missed = onLoop { found.isPlaceKnown = await sessions.catchUp(uid) }
        if let plan, let match, await !match.sensor.isStill(plan.sensor) {
            found.isMatchValid = false
            return found
        }
        await missed.value
        guard let (sensor, template) = match else { return found }
        if !sensor.templates.lists(template, of: uid) {
            _ = await sensor.templates.contains(template, of: uid)
            found.isPlaceKnown = await sessions.catchUp(uid)
        }
        // The template may have been removed meanwhile, or the sensor be another by now.
        let isListed = sensor.templates.lists(template, of: uid)
        found.isMatchValid = isListed
        if let plan {
            let isSame = sensor.process.owner == plan.owner && sensor.isUsable
            found.isMatchValid = isListed && isSame && sensor.fits(plan.sensor)
            // Only a list of the same sensor says that.
            found.isTemplateRemoved = isSame && !isListed && !sensor.templates.isUnknown(of: uid)
        }
        return found
    }

    /// What decides whether a caller can be asked now; sensors and passcode are left out.
    func findPlace(of peer: Peer, isDecision: Bool = false) async -> Facts {
        let uid = peer.uid
        // At the same time: on a busy bus each answer takes long.
        let around = onLoop { await sessions.refresh(peer, for: uid, isDecision: isDecision) }
        let isKnown = await sessions.catchUp(uid)
        await around.value
        let place = isKnown ? await sessions.place(of: peer, for: uid) : Sessions.Place()
        return Facts(place, of: peer)
    }

    /// The same as far as it is known at once; nil: it isn't, and is found out and announced.
    ///
    /// Behind the answer the login manager is asked all the same.
    func knownPlace(of peer: Peer) -> Facts? {
        guard let place = sessions.knownPlace(of: peer) else { return nil }
        sessions.askBehind(peer.uid, at: Instant.now())
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

import AuthEngine
import DBus

/// Finds out what an answer depends on: enrolments, the passcode, and where the caller stands.
@BusActor
struct FactFinder {
    let enrolments: Enrolments
    let verifier: PasscodeVerifier
    let sessions: Sessions

    /// Everything that an answer depends on, asked anew.
    ///
    /// Where the caller stands is said last: what happens to its session later is an event. For a
    /// decision the login manager is asked whether such an event was missed.
    func find(
        for peer: Peer,
        uid: UInt32,
        isUnlock: Bool = false,
        isDecision: Bool = false,
        processes: [Int32] = []
    ) async -> Facts {
        let around =
            sessions.isAbsent ? nil : onLoop { await sessions.refresh(peer, for: uid) }
        let templates = onLoop { await enrolments.refresh(uid) }
        let passcode = await verifier.passcode(of: uid)
        await templates.value
        await around?.value
        // The lid may have been found open meanwhile.
        if !enrolments.isComplete(for: uid) { await enrolments.refresh(uid) }
        if isDecision { await sessions.catchUp(uid) }
        let place = await sessions.place(of: peer, for: uid, isUnlock: isUnlock)
        var facts = Facts(
            sensors: enrolments.facts(of: uid),
            passcode: passcode,
            session: place.session,
            processes: processes
        )
        if place.isRemote { facts.keepSensorsFromAfar() }
        return facts
    }
}

extension Facts {
    /// No sensor is of use to who is not there (L2).
    fileprivate mutating func keepSensorsFromAfar() {
        isRemote = true
        for index in sensors.indices { sensors[index].availability = .unavailable }
    }
}

import Contract

@testable import AuthEngine

/// Keeps separate books of every user's proofs and failures, across crashes and boots.
///
/// The books follow from the events alone. The engine's records must be as strict.
struct ExpectedRecords {
    /// The content of the disk after a write.
    struct Write {
        var uid: UInt32
        var book: UserRecord
        /// The book before a proof made it less strict.
        var before: UserRecord?
        var isPasscode = false
    }

    /// Failures that were reported to a caller; a proof resets them.
    struct Told {
        /// Misses, in halves.
        var halves = 0
        var wrongPasscodes = 0
        var isPasscodeRequired = false
        var delayedUntil: Instant?
    }

    /// A book that the current event allows.
    struct Proof {
        var uid: UInt32
        var book: UserRecord
        var isPasscode = false
    }

    var books: [UInt32: UserRecord] = [:]
    /// The books as of the last completed write.
    var kept: [UInt32: UserRecord] = [:]
    var told: [UInt32: Told] = [:]
    var since: Instant
    var complaints: [String] = []
    /// How often each outcome occurred, for the report.
    var seen: [String: Int] = [:]

    private var writes: [SaveID: Write] = [:]
    private var requests: [EvaluationID: Request] = [:]
    private var lookingUp: Set<EvaluationID> = []
    private var facts: [EvaluationID: Facts] = [:]
    private var running: [OperationID: (id: EvaluationID, sensor: SensorFact)] = [:]
    private var matched: [EvaluationID: SensorFact] = [:]
    private var verifying: [EvaluationID: UInt32] = [:]
    /// The numbers of misses, in halves, and of wrong passwords that were not yet reported.
    private var misses: [EvaluationID: [Int]] = [:]
    private var wrongPasscodes: [EvaluationID: [Int]] = [:]
    private var isSuspended = false
    private var settings = Settings()
    private var now = Instant(nanoseconds: 0)

    init(since: Instant) {
        self.since = since
    }

    func book(of uid: UInt32) -> UserRecord { books[uid] ?? UserRecord() }

    private mutating func complain(_ text: String) {
        complaints.append(text)
    }

    /// Checks a step that the engine has taken.
    mutating func see(_ event: Event, _ effects: [Effect], _ engine: AuthEngine) {
        now = engine.now
        settings = engine.settings
        arrive(event)
        let proof = proof(by: event)
        var before: UserRecord?
        if let proof, effects.contains(where: { $0.isSave(of: proof.uid) }),
            !proof.isPasscode || engine.record(of: proof.uid).accepts(proof.book)
        {
            before = book(of: proof.uid)
            books[proof.uid] = proof.book
        }
        for case .reply(let id, .granted(let grant)) in effects
        where grant.mechanism == .biometry && requests[id]?.isUnlock == true {
            // An unlock counts only after its grant.
            books[grant.uid, default: UserRecord()].lastBiometricUnlock = now
        }
        for effect in effects {
            if case .save(let save, let uid, let record) = effect {
                if !record.isAsStrict(as: book(of: uid)) { complain("\(save) forgets something") }
                writes[save] = Write(
                    uid: uid,
                    book: counted(uid, in: record, of: event),
                    before: before,
                    isPasscode: proof?.isPasscode == true
                )
                before = nil
            } else {
                see(effect, of: event)
            }
        }
        leave(event)
        for (uid, book) in books {
            let record = engine.record(of: uid)
            if !record.isAsStrict(as: book) { complain("of \(uid) something is forgotten") }
            if record.fieldsThatMustSurvive != book.fieldsThatMustSurvive {
                complain("of \(uid) something is made up")
            }
        }
        if isSuspended, !engine.evaluations.isEmpty { complain("evaluations run in sleep") }
    }

    /// Returns the book with the attempt that a write counts in advance.
    private mutating func counted(
        _ uid: UInt32,
        in record: UserRecord,
        of event: Event
    ) -> UserRecord {
        var asked = verifying
        if case .passcodeVerified(let id, _) = event { asked[id] = nil }
        let book = book(of: uid)
        var counted = book
        switch record.wrongPasscodes - book.wrongPasscodes {
        case 0:
            if asked.values.contains(uid) {
                complain("a write forgets a passcode that is being verified")
            }
        case 1:
            counted.wrongPasscodes += 1
            counted.delayedUntil = record.delayedUntil
        default: complain("a write makes up wrong passcodes")
        }
        return counted
    }

    // MARK: Events

    /// Makes books stricter, and handles the results of writes.
    private mutating func arrive(_ event: Event) {
        switch event {
        case .requested(let request): requests[request.id] = requests[request.id] ?? request
        case .lookedUp(let id, let found):
            // Only the first reply to a look-up counts.
            if lookingUp.remove(id) != nil { facts[id] = found }
        case .sensorMissed(let operation, _):
            guard let (id, sensor) = running[operation], sensor.type != .none,
                let uid = requests[id]?.uid
            else { return }
            let weight = sensor.type == .face || sensor.type == .iris ? 1 : 2
            books[uid, default: UserRecord()].halves += weight
            misses[id, default: []].append(book(of: uid).halves)
        case .sensorMatched(let operation, template: _):
            if let (id, sensor) = running[operation] { matched[id] = sensor }
        case .passcodeVerified(let id, let verdict):
            guard let uid = verifying[id] else { return }
            var book = book(of: uid)
            let isRefused = verdict == .correct && isDelayed(book)
            guard verdict == .wrong || verdict == .lost || isRefused else { return }
            book.wrongPasscodes += 1
            if book.wrongPasscodes > 5 { book.delayedUntil = now + delay(of: book) }
            books[uid] = book
            if isRefused { seen["right, but delayed", default: 0] += 1 }
            if verdict != .lost { wrongPasscodes[id, default: []].append(book.wrongPasscodes) }
        case .passcodeRequired(let uid, let cause):
            let isRemote = cause.word == .remote
            switch book(of: uid).passcodeCause?.word {
            case nil: books[uid, default: UserRecord()].passcodeCause = cause
            case .remote where isRemote, .program where isRemote:
                books[uid]?.passcodeCause = cause
            default: break
            }
        case .loggedOut(let uid) where settings.passcodeAfterBoot:
            books[uid]?.lastPasscode = nil
            books[uid]?.lastBiometricUnlock = nil
        case .enrolmentChanged(let uid): books[uid]?.lastBiometricUnlock = nil
        case .saved(let save): written(save)
        case .saveFailed(let save): failed(save)
        case .suspending: isSuspended = true
        case .resumed: isSuspended = false
        default: break
        }
    }

    private func delay(of book: UserRecord) -> Duration {
        let step = min(book.wrongPasscodes - 6, settings.passcodeDelays.count - 1)
        return step < 0 ? .zero : settings.passcodeDelays[step]
    }

    private func isDelayed(_ book: UserRecord) -> Bool {
        book.delayedUntil.map { now < $0 } == true
    }

    /// Returns the proof that the event gives if the engine accepts it.
    private func proof(by event: Event) -> Proof? {
        switch event {
        case .passcodeVerified(let id, .correct):
            guard let uid = verifying[id], requests[id] != nil, !isDelayed(book(of: uid)) else {
                return nil
            }
            return afterPasscode(uid)
        case .unlocked(let uid, byPasscode: true): return afterPasscode(uid)
        case .unlocked(let uid, byPasscode: false):
            return afterBiometry(uid, isUnlock: true)
        case .sensorMatched(let operation, template: _):
            guard let id = running[operation]?.id else { return nil }
            return afterMatch(id)
        case .confirmed(let id): return afterMatch(id)
        default: return nil
        }
    }

    private func afterPasscode(_ uid: UInt32) -> Proof {
        var book = UserRecord()
        book.lastPasscode = now
        let old = self.book(of: uid)
        if !isRefused(old) { book.lastBiometricUnlock = old.lastBiometricUnlock }
        return Proof(uid: uid, book: book, isPasscode: true)
    }

    private func afterMatch(_ id: EvaluationID) -> Proof? {
        guard let sensor = matched[id], sensor.type != .none, let request = requests[id] else {
            return nil
        }
        return afterBiometry(request.uid, isUnlock: false)
    }

    private func afterBiometry(_ uid: UInt32, isUnlock: Bool) -> Proof? {
        var book = book(of: uid)
        guard !isRefused(book) else { return nil }
        book.halves = 0
        if isUnlock { book.lastBiometricUnlock = now }
        return Proof(uid: uid, book: book)
    }

    /// Whether biometry must wait for a password, by R3, L11 and RequirePasscode.
    private func isRefused(_ book: UserRecord) -> Bool {
        if book.passcodeCause != nil || book.misses >= settings.lockoutAttempts { return true }
        if settings.passcodeAfterBoot, book.lastPasscode == nil { return true }
        let passcode = book.lastPasscode ?? since
        let unlock = max(passcode, book.lastBiometricUnlock ?? passcode)
        if let limit = settings.passcodeAfter, now - unlock >= limit { return true }
        guard let limit = settings.passcodeAfterWithBiometry, now - passcode >= limit else {
            return false
        }
        return now - (book.lastBiometricUnlock ?? passcode) >= settings.withoutBiometry
    }

    private mutating func written(_ save: SaveID) {
        guard let write = writes.removeValue(forKey: save) else { return }
        kept[write.uid] = write.book
        revoke(write)
    }

    private mutating func revoke(_ write: Write) {
        guard write.before != nil else { return }
        if write.isPasscode { told[write.uid] = nil } else { told[write.uid]?.halves = 0 }
    }

    /// Reverts a proof that could not be written, and adds later failures.
    private mutating func failed(_ save: SaveID) {
        guard let write = writes.removeValue(forKey: save), let before = write.before else {
            return
        }
        // A later write may have carried the proof to the disk.
        revoke(write)
        var book = book(of: write.uid)
        book.halves += before.halves
        if write.isPasscode { book.wrongPasscodes += before.wrongPasscodes }
        if let first = before.passcodeCause {
            let since = book.passcodeCause
            book.passcodeCause = since.map { first.givesWay(to: $0) ? $0 : first } ?? first
        }
        book.delayedUntil = [book.delayedUntil, before.delayedUntil].compactMap(\.self).max()
        books[write.uid] = book
    }

    private mutating func leave(_ event: Event) {
        switch event {
        case .sensorMatched(let operation, template: _), .sensorEnded(let operation),
            .templateRemoved(let operation):
            running[operation] = nil
        case .passcodeVerified(let id, _): verifying[id] = nil
        case .interrupted(let session, let interruption):
            let left = requests.values.filter { request in
                facts[request.id]?.session == session
                    && (interruption == .left
                        || interruption == .locked && !request.isForLockScreen
                        || interruption == .unlocked && request.isForLockScreen
                            && !request.isUnlock)
            }
            if !left.isEmpty { complain("\(left.map(\.id)) outlive \(interruption)") }
        default: break
        }
    }

    // MARK: Effects

    private mutating func see(_ effect: Effect, of event: Event) {
        switch effect {
        case .lookUp(let id): lookingUp.insert(id)
        case .begin: if isSuspended { complain("a prompt in sleep") }
        case .startSensor(let operation, let id, let name):
            guard let request = requests[id],
                let sensor = facts[id]?.sensors.first(where: { $0.name == name })
            else { return complain("\(name) starts for nobody") }
            running[operation] = (id, sensor)
            if sensor.type != .none, isRefused(book(of: request.uid)) {
                complain("\(name) looks although biometry is refused")
            }
        case .cancelSensor(let operation): running[operation] = nil
        case .verifyPasscode(let id):
            guard let uid = requests[id]?.uid else { return complain("verified for nobody") }
            if verifying.values.contains(uid) { complain("two passcodes of \(uid) at once") }
            verifying[id] = uid
            if isDelayed(book(of: uid)) { complain("a passcode is taken during a delay") }
            if kept[uid]?.wrongPasscodes ?? 0 <= book(of: uid).wrongPasscodes {
                complain("a passcode is verified that a crash would forget")
            }
        case .tell(let id, let progress):
            guard let uid = requests[id]?.uid else { return complain("\(id) is told \(progress)") }
            seeTell(id, uid, progress, event)
        case .reply(let id, let outcome):
            guard let request = requests.removeValue(forKey: id) else {
                return complain("nobody's answer")
            }
            seeReply(request, outcome)
            (facts[id], matched[id], misses[id], wrongPasscodes[id]) = (nil, nil, nil, nil)
        default: break
        }
    }

    private mutating func seeTell(
        _ id: EvaluationID,
        _ uid: UInt32,
        _ progress: Progress,
        _ event: Event
    ) {
        let kept = kept[uid] ?? UserRecord()
        switch progress {
        case .miss:
            // A companion's miss does not count, and is reported at once.
            guard case .saved = event, misses[id]?.isEmpty == false else { return }
            let number = misses[id]?.removeFirst() ?? 0
            told[uid, default: Told()].halves = max(told[uid]?.halves ?? 0, number)
            if kept.halves < number { complain("non-match \(number) is told too early") }
        case .passcodeRejected:
            let number =
                wrongPasscodes[id]?.isEmpty == false
                ? wrongPasscodes[id]?.removeFirst() ?? 0 : Int.max
            told[uid, default: Told()].wrongPasscodes = number
            told[uid]?.delayedUntil = kept.delayedUntil
            if kept.wrongPasscodes < number { complain("wrong passcode \(number), too early") }
        case .passcodeNotTaken:
            let end = book(of: uid).delayedUntil
            if end.map({ now < $0 }) != true { complain("a passcode is not taken: no delay") }
        case .passcodeRequired(let cause):
            if isDelayed(book(of: uid)) { complain("a passcode is asked for in a delay: \(cause)") }
            let others: [PasscodeCauseWord] = [
                .fallback, .attempts, .sensorFailed, .verifierFailed, .delayOver, .accessControl,
            ]
            if others.contains(cause.word) { return }
            seeLockout(uid, "\(cause)")
            if let known = book(of: uid).passcodeCause, known != cause {
                complain("\(cause) is told in the place of \(known)")
            }
        default: break
        }
    }

    private mutating func seeReply(_ request: Request, _ outcome: Outcome) {
        let uid = request.uid
        switch outcome {
        case .granted(let grant):
            seen["granted by \(grant.mechanism)", default: 0] += 1
            if grant.type != .none, isRefused(book(of: uid)) {
                complain("\(request.id) is granted by biometry, which is refused")
            }
            guard grant.mechanism == .reuse else { return }
            let window = min(request.reuseDuration, settings.longestReuse)
            guard let unlock = book(of: uid).lastBiometricUnlock, now - unlock < window else {
                return complain("\(request.id) reuses an unlock that is none")
            }
        case .refused(let refusal):
            seen["\(refusal.code)", default: 0] += 1
            if refusal.code == .biometryLockout { seeLockout(uid, refusal.message) }
            guard refusal.message.contains("you cannot enter a password") else { return }
            seen["delayed", default: 0] += 1
            guard let end = kept[uid]?.delayedUntil, now < end else {
                return complain("a delay is told that a crash would end")
            }
            told[uid, default: Told()].delayedUntil = end
        }
    }

    private mutating func seeLockout(_ uid: UInt32, _ cause: String) {
        // A lockout that ended meanwhile needs no write.
        if isRefused(book(of: uid)), !isRefused(kept[uid] ?? UserRecord()) {
            complain("a lockout is told that a crash would end: \(cause)")
        }
    }

    /// Handles the reply of RequirePasscode.
    mutating func answerPasscodeRequired(_ uid: UInt32) {
        told[uid, default: Told()].isPasscodeRequired = true
        if kept[uid]?.passcodeCause == nil { complain("RequirePasscode is answered too early") }
    }

    // MARK: Crashes

    /// Restarts after a crash, with the given writes and records on the disk.
    mutating func restart(
        after writes: [SaveID],
        _ records: [UInt32: UserRecord],
        _ settings: Settings,
        at now: Instant,
        since: Instant,
        isBoot: Bool
    ) {
        for save in writes { written(save) }
        var next = ExpectedRecords(since: since)
        next.now = now
        next.settings = settings
        next.complaints = complaints
        next.seen = seen
        for (uid, book) in kept {
            next.books[uid] = next.restarted(book, isBoot: isBoot)
            if records[uid]?.isAsStrict(as: next.book(of: uid)) != true {
                next.complain("of \(uid) the disk has forgotten something")
            }
        }
        for (uid, told) in told {
            let record = records[uid] ?? UserRecord()
            let isDelayed = isBoot || told.delayedUntil.map { $0 <= now } != false
            if record.halves < told.halves || record.wrongPasscodes < told.wrongPasscodes
                || (told.isPasscodeRequired && record.passcodeCause == nil)
                || (!isDelayed && record.delayedUntil == nil)
            {
                next.complain("\(uid) was told \(told), and the disk says \(record)")
            }
            next.told[uid] = told
            if isBoot { next.told[uid]?.delayedUntil = nil }
        }
        next.kept = next.books
        self = next
    }

    private func restarted(_ book: UserRecord, isBoot: Bool) -> UserRecord {
        var book = book
        if let until = book.delayedUntil {
            let whole = now + delay(of: book)
            // Few wrong passwords cause no delay, so a restored delay ends here.
            book.delayedUntil = whole == now ? nil : isBoot ? whole : min(until, whole)
        }
        if isBoot {
            book.lastPasscode = nil
            book.lastBiometricUnlock = nil
        }
        return book
    }
}

extension UserRecord {
    /// Whether this is the record after that proof.
    ///
    /// A right password after a match only revokes its attempt.
    fileprivate func accepts(_ proof: UserRecord) -> Bool {
        isAsStrict(as: proof) && fieldsThatMustSurvive == proof.fieldsThatMustSurvive
    }

    /// All misses in halves, the unit of the test's books.
    var halves: Int {
        get { 2 * misses + (hasHalfMiss ? 1 : 0) }
        set { (misses, hasHalfMiss) = (newValue / 2, newValue % 2 == 1) }
    }

    /// Whether this record allows nothing that the other refuses.
    func isAsStrict(as other: UserRecord) -> Bool {
        func isNoLater(_ time: Instant?, than limit: Instant?) -> Bool {
            guard let time else { return true }
            return limit.map { time <= $0 } ?? false
        }
        return halves >= other.halves && wrongPasscodes >= other.wrongPasscodes
            && (other.passcodeCause == nil || passcodeCause != nil)
            && isNoLater(other.delayedUntil, than: delayedUntil)
            && isNoLater(lastPasscode, than: other.lastPasscode)
            && isNoLater(lastBiometricUnlock, than: other.lastBiometricUnlock)
    }
}

extension Effect {
    fileprivate func isSave(of uid: UInt32) -> Bool {
        if case .save(_, uid: uid, _) = self { true } else { false }
    }
}

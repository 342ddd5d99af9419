import AuthEngine
import DBus

/// Who has been elsewhere, and how that outlives this process.
extension Sessions {
    /// The desktop that a unit of its user belongs to; nil: none, or nobody can tell.
    ///
    /// Any program of the user can start one. What counts is that none came from afar (see
    /// ``LoginHistory``), or that this one was there before.
    func desktop(ofUnit agent: Peer) async -> LoginSession? {
        guard let logind, ProcessStatus.terminal(of: agent.pid) == "",
            let login = try? await logind.login(ofUnit: agent),
            let program = LoginHistory.Program(pid: agent.pid)
        else { return nil }
        let isKnown = history.knows(program, of: agent.uid)
        var desktops: [LoginSession] = []
        for path in login.sessions {
            guard let session = try? await load(path, for: agent.uid, logind),
                session.isAtMachine || isKnown
            else { return nil }
            if session.isDesktop { desktops.append(session) }
        }
        guard isKnown || history.isAtMachine(agent.uid, since: login.since) else { return nil }
        guard desktops.count == 1, let desktop = desktops.first else { return nil }
        history.believed(program, of: agent.uid)
        keepHistory()
        return desktop
    }

    /// Finds out where the sessions are that have just come.
    func lookAtNew(of uid: UInt32) {
        for path in history.belong(to: uid) {
            onLoop {
                let session = try? await self.logind?.session(at: path, for: uid)
                let isAtMachine = session.map { $0.uid == uid && $0.isAtMachine } ?? false
                self.history.found(path, of: uid, isAtMachine: isAtMachine)
                self.keepHistory()
            }
        }
    }

    /// Whoever gave a passcode and has no session any more has logged out, here or while nobody
    /// was told (R50).
    ///
    /// Those who log in and out without end have each asked about once at a time.
    func lookForLogouts() {
        for uid in events.usersWithPasscode {
            onLoop {
                await self.logoutLookUps.share(uid) {
                    guard await self.logind?.hasSession(uid) == false else { return }
                    self.events.happened(.loggedOut(uid: uid))
                }
            }
        }
    }

    /// Begins with what an earlier process knew, if there is nothing that it didn't know.
    func recallHistory() {
        history.begin()
        if let manager = logind?.process, let known = record?.recall(of: manager) {
            history = known
        }
        keepHistory()
    }

    func forgetHistory() {
        record?.forget()
        history.begin()
        keepHistory()
    }

    /// Has what is known outlive this process, once it is known of each session where it is.
    func keepHistory() {
        guard let record, !isKeeping else { return }
        isKeeping = true
        onLoop {
            while let manager = self.logind?.process, await !self.keep(in: record, of: manager) {}
            self.isKeeping = false
        }
    }

    /// - Returns: Whether it is still that login manager's.
    private func keep(in record: LoginRecord, of manager: LoginHistory.Program) async -> Bool {
        let unread = record.unread
        // With its answer there is all that the login manager said of what it had written by then.
        let isAnswered = await logind?.isSleeping() != nil
        guard logind?.process == manager else { return false }
        // Else the last session that is found calls again.
        guard history.isSettled else { return true }
        if isAnswered { record.save(history, of: manager, read: unread) }
        record.whenUnread { [weak self] in self?.keepHistory() }
        return true
    }
}

extension LoginHistory.Program {
    /// Nil when the process is gone.
    init?(pid: Int32) {
        guard let start = ProcessStatus.field(.startTime, of: pid).flatMap({ UInt64($0) }) else {
            return nil
        }
        self.init(pid: pid, start: start)
    }
}

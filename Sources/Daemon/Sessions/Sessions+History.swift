import AuthEngine
import AuthStore
import DBus

/// The history of logins, and its survival across restarts.
extension Sessions {
    /// Returns the desktop that a unit of its user belongs to; nil if there is none, or it is
    /// uncertain.
    ///
    /// Any program of the user can start a unit. Therefore the user must not have been remote (see
    /// ``LoginHistory``), or the agent must have been trusted before.
    func desktop(ofUnit agent: Peer, isRemembered: Bool) async -> LoginSession? {
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
        if isRemembered {
            history.believed(program, of: agent.uid)
            keepHistory()
        }
        return desktop
    }

    /// Looks up where new sessions of a user are.
    func lookAtNew(of uid: UInt32) {
        for path in history.assignSessions(to: uid) {
            onLoop {
                let session = try? await self.logind?.session(at: path, for: uid)
                let isAtMachine = session.map { $0.uid == uid && $0.isAtMachine } ?? false
                self.history.recordPlace(path, of: uid, isAtMachine: isAtMachine)
                self.keepHistory()
            }
        }
    }

    /// Handles a logout reported by the login manager.
    func loggedOut(_ uid: UInt32) {
        present.remove(uid)
        rearranged(uid)
        events.happened(.loggedOut(uid: uid))
    }

    /// Reports users without sessions as logged out, also if their logout signal was lost (R50).
    ///
    /// Each user who gave a password has at most one query at a time, even if users log in and out
    /// very often.
    ///
    /// A display manager may end the greeter's session between the user's password and session.
    /// Recent passwords of other users are therefore kept.
    ///
    /// - Parameters:
    ///   - ended: the user whose session ended, if known.
    ///   - isStart: whether the login manager was just found.
    func lookForLogouts(afterSessionOf ended: UInt32?, isStart: Bool = false) {
        let now = Instant.now()
        for (uid, given) in events.passcodes {
            let mayLogIn = !isStart && uid != ended && now - given < Self.longestLogin
            onLoop {
                await self.logoutLookUps.share(uid) {
                    guard let isLoggedIn = await self.logind?.hasSession(uid) else { return }
                    if isLoggedIn {
                        self.present.insert(uid)
                    } else if !mayLogIn || self.present.contains(uid) {
                        self.present.remove(uid)
                        self.events.happened(.loggedOut(uid: uid))
                    }
                }
            }
        }
    }

    /// The longest time from a password to the user's session.
    private static let longestLogin = Duration.seconds(60)

    /// Adopts the history of an earlier process if it is complete.
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

    /// Saves the history for the next process after all new sessions were looked up.
    func keepHistory() {
        guard let record, !isKeeping else { return }
        isKeeping = true
        onLoop {
            while let manager = self.logind?.process, await !self.keep(in: record, of: manager) {}
            self.isKeeping = false
        }
    }

    /// - Returns: Whether the login manager is still this process.
    private func keep(in record: LoginRecord, of manager: LoginHistory.Program) async -> Bool {
        let unread = record.unread
        // After this answer, all announcements about sessions written before have arrived.
        let isAnswered = await logind?.isSleeping() != nil
        guard logind?.process == manager else { return false }
        // If sessions are being looked up, the last look-up calls this again.
        guard history.isSettled else { return true }
        if isAnswered { record.save(history, of: manager, read: unread) }
        record.whenUnread { [weak self] in self?.keepHistory() }
        return true
    }
}

extension LoginHistory.Program {
    /// Returns nil if the process has ended.
    init?(pid: Int32) {
        guard let start = ProcessStatus.field(.startTime, of: pid).flatMap({ UInt64($0) }) else {
            return nil
        }
        self.init(pid: pid, start: start)
    }
}

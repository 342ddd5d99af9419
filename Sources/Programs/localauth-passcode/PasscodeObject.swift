import DBus
import Glibc
import LocalAuthBus
import Sealing
import ServiceProgram

/// `org.localauth.Passcode1`: checks passwords with PAM, in a child process each.
///
/// Each user has at most one child at a time, so a user with many checks delays only themselves.
@BusActor final class PasscodeObject: Passcode1Service {
    @BusActor private final class QueuedCheck {
        let uid: UInt32
        let passcode: SealedPasscode
        let caller: Peer
        private var report: CheckReport??
        private var waiting: CheckedContinuation<CheckReport?, Never>?

        init(uid: UInt32, passcode: SealedPasscode, caller: Peer) {
            self.uid = uid
            self.passcode = passcode
            self.caller = caller
        }

        func end(_ report: CheckReport?) {
            self.report = .some(report)
            waiting?.resume(returning: report)
            waiting = nil
        }

        /// Waits for the report; nil if there is none.
        func end() async -> CheckReport? {
            if let report { return report }
            return await withCheckedContinuation { waiting = $0 }
        }
    }

    static let maximumChildren = 16
    static let maximumWaiting = 32

    private let daemon: DaemonCaller
    private let key: SealingKey
    private let service: String
    private let directory: String?
    private let setting: PasscodeSetting
    /// Nil disables the killing of leftovers, for a process that also has other children.
    private let leftovers: OrphanReaper?
    private var children: [UInt32: CheckProcess] = [:]
    private var waiting: [QueuedCheck] = []
    private var isLeaving = false
    private var shadow: ShadowWatch?

    /// Time for the daemon to reply at exit.
    private static let patience = Duration.milliseconds(250)
    /// Time for killed processes to exit, out of the 0.9 s that the whole exit may take.
    private static let lastPatience = Duration.milliseconds(600)

    init(
        daemon: DaemonCaller,
        key: SealingKey,
        service: String,
        directory: String?,
        isSet: PasscodeSetting,
        leftovers: OrphanReaper? = nil
    ) {
        self.daemon = daemon
        self.key = key
        self.service = service
        self.directory = directory
        self.setting = isSet
        self.leftovers = leftovers
    }

    func serve(on connection: Connection) throws(DBusError) {
        connection.export(Passcode1.path, [Passcode1Interface(self)])
        if setting == .auto {
            // The file does not say which user's password changed.
            let signals = Passcode1Signals(connection, path: Passcode1.path)
            shadow = ShadowWatch { signals.changed(uid: .max) }
        }
        try connection.requestName(Passcode1.busName)
    }

    /// Whether no check runs.
    ///
    /// Checks whose verdict is already reported count as running, so that the program's lifetime
    /// reveals no verdict.
    var isIdle: Bool { children.isEmpty && waiting.isEmpty }

    /// Releases the bus name and refuses new checks; later callers reach the next process.
    func leave(_ connection: Connection) async {
        isLeaving = true
        try? await connection.giveUpName(Passcode1.busName)
        await daemon.waitUntilNotified(within: Self.patience)
    }

    func stop() {
        for child in children.values { child.kill() }
        leftovers?.endNow(within: Self.lastPatience)
    }

    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        .later { [self] () async throws(DBusError) in
            setting.isSet(for: try await user(uid, of: call.peer), hasDirectory: hasDirectory)
        }
    }

    func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        .later { [self] () async throws(DBusError) in
            setting.isRemoved(of: try await user(uid, of: call.peer), hasDirectory: hasDirectory)
        }
    }

    /// Read for each question, because an administrator may edit the service at any time.
    private var hasDirectory: Bool { PAMStack(service: service, directory: directory).hasDirectory }

    private func user(_ uid: UInt32, of caller: Peer) async throws(DBusError) -> SystemUser {
        try await daemon.require(caller)
        try Self.requireOwn(uid)
        guard let user = SystemUser(uid: uid) else { throw Self.unknownUser(uid) }
        return user
    }

    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { key.publicKey }

    func verify(
        uid: UInt32,
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        guard sealed.count <= SealedPasscode.longest, prompt.utf8.count <= SealedPasscode.longest
        else { throw DBusError(.invalidArgs, "The sealed password or the handle is too long.") }
        return .later { () async throws(DBusError) -> Bool in
            try await self.daemon.require(call.peer)
            try Self.requireOwn(uid)
            guard !self.isLeaving else {
                throw DBusError(.passcodeCanceled, "The verifier is leaving.")
            }
            guard self.waiting.count < Self.maximumWaiting else {
                throw DBusError(.limitsExceeded, "\(Self.maximumWaiting) checks wait already.")
            }
            // Queue before suspending, so that concurrent calls count against the limit.
            let passcode = SealedPasscode(key: self.key, prompt: prompt, sealed: sealed)
            let turn = QueuedCheck(uid: uid, passcode: passcode, caller: call.peer)
            self.waiting.append(turn)
            self.startNext()
            return try Self.answer(await turn.end(), uid: uid)
        }
    }

    /// Starts queued checks, first come first.
    private func startNext() {
        while children.count < Self.maximumChildren,
            let index = waiting.firstIndex(where: { children[$0.uid] == nil })
        {
            start(waiting.remove(at: index))
        }
    }

    private func start(_ turn: QueuedCheck) {
        let check = PasscodeCheck(service: service, directory: directory, uid: turn.uid)
        var leaving: EventSource?
        do throws(DBusError) {
            guard !turn.caller.hasLeft else {
                throw DBusError(.passcodeCanceled, "Nobody waits for this check any more.")
            }
            let child = try CheckProcess(check, turn.passcode) { report in
                turn.end(report)
            } hasEnded: {
                leaving?.cancel()
                self.children[turn.uid] = nil
                self.leftovers?.end()
                self.startNext()
            }
            children[turn.uid] = child
            leaving = turn.caller.onLeave { child.kill() }
        } catch {
            log(.error, "a password could not be checked: \(error)")
            turn.end(nil)
        }
    }

    private static func answer(_ report: CheckReport?, uid: UInt32) throws(DBusError) -> Bool {
        guard let report else {
            throw DBusError(.passcodeFailed, "The check of the password failed.")
        }
        switch report.verdict {
        case .correct: return true
        case .wrong: return false
        case .unopened:
            throw DBusError(.invalidArgs, "The sealed password does not open, or is empty.")
        case .unknownUser: throw unknownUser(uid)
        case .refusedByPAM where !report.message.isEmpty:
            throw DBusError(.passcodeRefused, report.message)
        case .refusedByPAM: throw DBusError(.passcodeFailed, "PAM could not check the password.")
        case .failed: throw DBusError(.passcodeFailed, "The check of the password failed.")
        }
    }

    /// Refuses other users unless run by root: pam_unix would report their password as wrong.
    private static func requireOwn(_ uid: UInt32) throws(DBusError) {
        guard uid != .max else { throw DBusError(.invalidArgs, "uid \(uid) is no user.") }
        guard geteuid() == 0 || uid == geteuid() else {
            throw DBusError(.passcodeFailed, "Only root can check the passcode of another user.")
        }
    }

    private static func unknownUser(_ uid: UInt32) -> DBusError {
        DBusError(.passcodeFailed, "There is no user with uid \(uid).")
    }
}

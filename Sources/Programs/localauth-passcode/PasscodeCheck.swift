import CLinux
import CPAM
import Glibc
import Sealing

/// Checks a password in the child process: opens it, calls PAM, overwrites it.
///
/// A right password is followed by `pam_acct_mgmt`, which resets the counter of `pam_faillock` and
/// refuses expired accounts.
struct PasscodeCheck {
    static let input: Int32 = 3
    static let pipe: Int32 = 4
    /// The longest answer that PAM takes, in bytes without the NUL.
    static let maximumSize = Int(PAM_MAX_RESP_SIZE) - 1
    /// Seconds until the kernel ends a child without a parent, slightly more than the parent's own
    /// deadline.
    static let lifetime: UInt32 = 31

    let service: String
    let directory: String?
    let uid: UInt32

    private static let mark = "--check-passcode"

    var words: [String] {
        ["localauth-passcode", Self.mark, String(uid), service] + (directory.map { [$0] } ?? [])
    }

    init(service: String, directory: String?, uid: UInt32) {
        self.service = service
        self.directory = directory
        self.uid = uid
    }

    /// Returns nil unless this process is a check's child.
    init?(words: [String]) {
        guard words.count == 4 || words.count == 5, words[1] == Self.mark,
            let uid = UInt32(words[2])
        else { return nil }
        self.init(service: words[3], directory: words.count == 5 ? words[4] : nil, uid: uid)
    }

    /// Checks, reports the verdict on the pipe, and sleeps for a time that hides the verdict.
    func run() {
        let start = ContinuousClock.now
        closefrom(Self.pipe + 1)
        // Processes of a module must not inherit these.
        for descriptor in [Self.input, Self.pipe] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        alarm(Self.lifetime)
        // Adopts this check's orphans, to keep them apart from other checks' leftovers.
        adopt_orphans()
        // A password must never reach a core file.
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
        let report = check()
        report.write(to: Self.pipe)
        // Both outcomes report at once and then sleep once. Neither the lifetime nor the number of
        // wake-ups distinguishes them.
        let rest =
            report.childLifetime(after: ContinuousClock.now - start) - (ContinuousClock.now - start)
        let (seconds, attoseconds) = max(rest, .zero).components
        var pause = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var left = timespec()
        while nanosleep(&pause, &left) != 0, errno == EINTR { pause = left }
    }

    private func check() -> CheckReport {
        guard let user = SystemUser(uid: uid) else { return CheckReport(.unknownUser) }
        guard let secret = SealedPasscode.open(from: Self.input) else {
            return CheckReport(.unopened)
        }
        let size = Self.maximumSize + 1
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            guard let passcode = buffer.baseAddress else { return CheckReport(.failed) }
            passcode.initialize(repeating: 0, count: size)
            // Unlocked memory could be swapped to disk.
            guard mlock(passcode, size) == 0 else { return CheckReport(.failed) }
            defer { explicit_bzero(passcode, size) }
            // A text that PAM can't take counts as a wrong password and costs an attempt.
            guard Self.copy(secret, to: buffer) else { return CheckReport(.wrong) }
            return ask(user.name, passcode)
        }
    }

    // SAFETY: the password stays in a single buffer that is wiped; an array could be copied.
    private static func copy(
        _ secret: SecretBytes,
        to buffer: UnsafeMutableBufferPointer<CChar>
    ) -> Bool {
        secret.use { bytes in
            guard bytes.count <= maximumSize, !bytes.contains(0) else { return false }
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            return true
        }
    }

    /// The report of a check that is killed at its deadline, if the attempt counts.
    ///
    /// A user can lock their own file of `pam_faillock`, which waits for it after `pam_unix` has
    /// judged the password. A directory that can't be reached takes no attempt.
    var overdueReport: CheckReport? {
        let stack = PAMStack(service: service, directory: directory)
        guard stack.modules.contains("pam_faillock"), !stack.hasDirectory else { return nil }
        return CheckReport(.wrong)
    }

    // SAFETY: the password stays in a single buffer that is wiped; an array could be copied.
    private func ask(_ user: String, _ passcode: UnsafeMutablePointer<CChar>) -> CheckReport {
        let stack = PAMStack(service: service, directory: directory)
        // While pam_faillock locks the account, the stack refuses every password, and runs without
        // a password for the module's message and delay. The user owns the counter and can imitate
        // a lock. No module sees the password then, so an uncounted attempt tries nothing.
        let failures = stack.faillock?.failures(of: user, uid: uid, at: UInt64(clamping: time(nil)))
        var conversation = Conversation(passcode: passcode, isWithheld: failures != nil)
        // SAFETY: PAM uses the address from pam_start to pam_end, which both run inside this
        // closure.
        return withUnsafeMutablePointer(to: &conversation) { conversation in
            var verdict = ask(user, conversation, stack)
            var message = conversation.pointee.message
            if let failures {
                verdict = .refusedByPAM
                // The words of the module, which its option `silent` hides.
                if message.isEmpty {
                    message = "The account is locked due to \(failures) failed logins."
                }
            }
            return CheckReport(
                verdict,
                delay: conversation.pointee.delay,
                message: verdict == .refusedByPAM ? message : ""
            )
        }
    }

    // SAFETY: PAM's callbacks use the address only until pam_end, before `ask` returns.
    private func ask(
        _ user: String,
        _ conversation: UnsafeMutablePointer<Conversation>,
        _ stack: PAMStack
    ) -> Verdict {
        var functions = pam_conv(conv: converse, appdata_ptr: conversation)
        var started: OpaquePointer?
        var code =
            if let directory {
                pam_start_confdir(service, user, &functions, directory, &started)
            } else {
                pam_start(service, user, &functions, &started)
            }
        guard code == PAM_SUCCESS, let handle = started else { return .failed }
        // SAFETY: PAM passes back the conversation's address.
        let delay: @convention(c) (Int32, UInt32, UnsafeMutableRawPointer?) -> Void = noteDelay
        // PAM takes the function as an untyped pointer.
        code = pam_set_item(handle, PAM_FAIL_DELAY, unsafeBitCast(delay, to: UnsafeRawPointer.self))
        guard code == PAM_SUCCESS else {
            pam_end(handle, code)
            return .failed
        }
        // Not silent: the modules say why an account is refused.
        code = pam_authenticate(handle, Int32(bitPattern: UInt32(PAM_DISALLOW_NULL_AUTHTOK)))
        if code == PAM_SUCCESS {
            // Without a line of its own, a service would have the account lines of `other`.
            if stack.hasAccount { code = pam_acct_mgmt(handle, 0) }
            pam_end(handle, code)
            // The password is right; only a login can change it.
            return code == PAM_SUCCESS || code == PAM_NEW_AUTHTOK_REQD ? .correct : .refusedByPAM
        }
        pam_end(handle, code)
        switch code {
        case PAM_MAXTRIES: return .wrong
        // Without the password, a module refuses in its own words.
        case PAM_AUTH_ERR:
            let (isAsked, message) = (conversation.pointee.isAsked, conversation.pointee.message)
            return isAsked || message.isEmpty ? .wrong : .refusedByPAM
        default: return .refusedByPAM
        }
    }
}

import CPAM
import Glibc

/// One check of a passcode, in the child process: reads the packet, asks PAM, overwrites it.
///
/// Only authentication is asked for. Whether an account may log in (`pam_acct_mgmt`) was decided
/// when the session began, and whoever opens a new one asks it there.
struct PasscodeCheck {
    static let socket: Int32 = 3
    static let maximumSize = 4096
    /// How long the child waits for the packet, in milliseconds; it was sent before the call.
    static let patience: Int32 = 1000
    /// Ends a child whose parent is gone, a little after the parent would have.
    static let lifetime: UInt32 = 31

    let service: String
    let directory: String?
    let uid: UInt32

    private static let mark = "--check-passcode"

    /// The argument list of the child.
    var words: [String] {
        ["localauth-passcode", Self.mark, String(uid), service] + (directory.map { [$0] } ?? [])
    }

    init(service: String, directory: String?, uid: UInt32) {
        self.service = service
        self.directory = directory
        self.uid = uid
    }

    /// Nil when this process is not such a child.
    init?(words: [String]) {
        guard words.count == 4 || words.count == 5, words[1] == Self.mark,
            let uid = UInt32(words[2])
        else { return nil }
        self.init(service: words[3], directory: words.count == 5 ? words[4] : nil, uid: uid)
    }

    func run() -> Verdict {
        closefrom(Self.socket + 1)
        alarm(Self.lifetime)
        // A passcode never reaches a core file.
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
        guard let user = SystemUser(uid: uid) else { return .unknownUser }
        // One byte more than is allowed, to see what is too long, and the final NUL.
        let size = Self.maximumSize + 2
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            guard let passcode = buffer.baseAddress else { return .failed }
            passcode.initialize(repeating: 0, count: size)
            mlock(passcode, size)
            defer { explicit_bzero(passcode, size) }
            if let problem = Self.receive(into: passcode) { return problem }
            return ask(user.name, passcode)
        }
    }

    // The passcode stays in one buffer that is wiped; an array could be copied.
    private static func receive(into passcode: UnsafeMutablePointer<CChar>) -> Verdict? {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, patience) == 1 else { return .noPacket }
        let count = recv(socket, passcode, maximumSize + 1, 0)
        close(socket)
        guard count > 0 else { return .noPacket }
        // PAM takes a C string: what follows a NUL would not count.
        guard count <= maximumSize, memchr(passcode, 0, count) == nil else { return .badPacket }
        return nil
    }

    // The passcode stays in one buffer that is wiped; an array could be copied.
    private func ask(_ user: String, _ passcode: UnsafeMutablePointer<CChar>) -> Verdict {
        var conversation = pam_conv(conv: converse, appdata_ptr: passcode)
        var started: OpaquePointer?
        var code =
            if let directory {
                pam_start_confdir(service, user, &conversation, directory, &started)
            } else {
                pam_start(service, user, &conversation, &started)
            }
        guard code == PAM_SUCCESS, let handle = started else { return .failed }
        let flags = Int32(bitPattern: UInt32(PAM_SILENT) | UInt32(PAM_DISALLOW_NULL_AUTHTOK))
        code = pam_authenticate(handle, flags)
        pam_end(handle, code)
        switch code {
        case PAM_SUCCESS: return .correct
        case PAM_AUTH_ERR, PAM_MAXTRIES: return .wrong
        default: return .refusedByPAM
        }
    }
}

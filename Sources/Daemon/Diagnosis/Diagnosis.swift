import AuthEngine
import DBus
import LocalAuthBus

/// What is right and wrong with the service, as one caller has it: what was found out, and what
/// follows from it.
struct Diagnosis: Sendable {
    /// One finding.
    struct Check: Hashable, Sendable {
        /// How bad it is.
        enum State: String, Sendable {
            case ok
            case warning
            case failed
        }

        let name: String
        let state: State
        let message: String
        /// What to do; empty when nothing is wrong.
        var remedy = ""

        /// As the contract has it.
        var wire: [String: Variant] {
            [
                "name": .string(name), "state": .string(state.rawValue),
                "message": .string(message), "remedy": .string(remedy),
            ]
        }
    }

    /// One sensor that the bus knows.
    struct Sensor: Hashable, Sendable {
        var name: String
        var description = ""
        /// Why it can't be used; nil when it can.
        var unavailability: Unavailability?
        /// Why it is not trusted; nil when it is.
        var distrust: String?
        /// What it did wrong last; nil: nothing.
        var fault: String?
        /// How it is, by its own words; nil when it was not asked.
        var health: Health?
        /// What it last refused an operation with; nil: nothing since it worked.
        var complaint: String?
        /// How many templates the caller has on it.
        var templates = 0
    }

    struct Health: Hashable, Sendable {
        var state: HealthState
        var message: String
    }

    /// No passcode is taken for so long, until that time of day.
    struct Delay: Hashable, Sendable {
        var left: Duration
        var until: String
    }

    /// The keychain, and what the caller has in it.
    enum KeychainState: Hashable, Sendable {
        /// Nobody has stored anything yet.
        case unused
        case open(key: String, isCredential: Bool, items: Int)
        /// An earlier database was damaged or lost, and no item of the caller's was stored since;
        /// where it is kept, if it was found now.
        case lost(setAside: String?)
        case refused(message: String, needsMasterKey: Bool)
    }

    var isSystemBus = false
    /// What is wrong with the settings, and whether everybody is refused because of it.
    var mistake: (error: ConfigurationError, isRefusing: Bool)?
    /// Whether the policy of the system bus is where it belongs; nil on another bus.
    var hasPolicy: Bool?
    var hasJournal = true
    /// Where a damaged database is kept.
    var setAside: String?
    /// Nil where the service has none.
    var keychain: KeychainState?
    /// Why there is no passcode verifier; nil where there is one.
    var verifierAbsence: PasscodeVerifier.Absence?
    var facts = Facts()
    var delay: Delay?
    /// Nil where there is no login manager.
    var isLidClosed: Bool?
    /// Whether the bus knows fprintd; nil when no sensor needs it.
    var hasFprintd: Bool?
    var sensors: [Sensor] = []
    /// Why biometry can't be evaluated.
    var refusal: Refusal?
    /// Why nobody can be asked; nil: somebody can.
    var absence: Absence? = .noAgent
    /// Whether the caller is asked on a desktop, which starts prompts itself.
    var isDesktop = false
    /// Whether the caller's display is an X server.
    var isX11 = false
    var monitors = 0
    /// Options that no method knows, and the methods.
    var unknownOptions: [String] = []

    /// Every check, in the order in which an evaluation would fail.
    var checks: [Check] {
        let machine = [
            bus, policy, settings, journal, state, keychainCheck, passcode, passcodeDelay,
            session, lid, fprintd,
        ]
        return machine.compactMap(\.self) + sensorChecks
            + [enrolment, biometry, agent, display, monitor, options].compactMap(\.self)
    }

    // MARK: - The service

    private var bus: Check? {
        if isSystemBus { return ok("bus", "The service runs on the system bus.") }
        return Check(
            name: "bus",
            state: .warning,
            message: "The service runs on a session bus. Your own programs can read everything "
                + "that it protects.",
            remedy: "Install the service for the system bus to protect secrets."
        )
    }

    private var policy: Check? {
        guard let hasPolicy else { return nil }
        if hasPolicy { return ok("policy", "The bus policy is installed.") }
        return Check(
            name: "policy",
            state: .failed,
            message: "The bus policy \(BusPolicy.file) is missing.",
            remedy: "Install it in \(BusPolicy.folders[0]), then reload the bus."
        )
    }

    private var settings: Check {
        guard let mistake else { return ok("settings", "The settings have no mistake.") }
        return Check(
            name: "settings",
            state: mistake.isRefusing ? .failed : .warning,
            message: mistake.isRefusing
                ? "Every call is refused because of a mistake in the settings: \(mistake.error)"
                : "The settings have a mistake, so the earlier settings apply: \(mistake.error)",
            remedy: ConfigurationMistake.remedy
        )
    }

    private var journal: Check? {
        if hasJournal { return ok("journal", "Decisions are written to the journal.") }
        return Check(
            name: "journal",
            state: .warning,
            message: "There is no journal: decisions are written to standard error.",
            remedy: "Run systemd-journald, or store the output of the service."
        )
    }

    private var state: Check? {
        guard let setAside else { return ok("state", "Counters and generations are kept.") }
        return Check(
            name: "state",
            state: .failed,
            message: "The database was damaged and set aside as \(setAside).",
            remedy:
                "Give your password once (localauthctl evaluate --policy 2), then delete that file."
        )
    }

    private var keychainCheck: Check? {
        switch keychain {
        case nil: nil
        case .unused: ok("keychain", "The keychain is empty.")
        case .open(let key, isCredential: true, let items):
            ok("keychain", "Keychain items of yours: \(items); the key \(key) is a credential.")
        case .open(let key, isCredential: false, let items):
            ok("keychain", "Keychain items of yours: \(items); the key \(key) is in a file.")
        case .lost(let setAside):
            Check(
                name: "keychain",
                state: .warning,
                message: setAside.map { "The keychain was damaged and set aside as \($0)." }
                    ?? "An earlier keychain was damaged or lost.",
                remedy: "Put a backup of it in place, or store the items again."
            )
        case .refused(let message, let needsMasterKey):
            Check(
                name: "keychain",
                state: .failed,
                message: message,
                remedy: needsMasterKey
                    ? "Put the master key back, or restore it: localauthctl keychain restore."
                    : "Your items are safe. Mend the cause, then try again."
            )
        }
    }

    // MARK: - The user

    private var passcode: Check? {
        switch facts.passcode {
        case .set: ok("passcode", "Your account has a password.")
        case .missing:
            Check(
                name: "passcode",
                state: .failed,
                message: "Your account has no password.",
                remedy: "Set a password with passwd."
            )
        case .unknown: unknownPasscode
        }
    }

    private var unknownPasscode: Check {
        let message: String
        var remedy = "Look into its log: journalctl -u localauth-passcode."
        switch verifierAbsence {
        case .notInstalled:
            message = "No password verifier is on the bus."
            remedy = "Start localauth-passcode."
        case .untrusted(let user):
            message =
                "The password verifier on the bus runs as \(user), so the service does not "
                + "trust it."
            remedy = "End that program, and run localauth-passcode as root."
        case .starting:
            message = "The password verifier is still starting."
            remedy = "Ask again in a moment."
        case .notStarting(let reason):
            message = "The password verifier can't be started: \(reason)"
        case .resting:
            message =
                "The password verifier failed several times. The service starts it again within a "
                + "minute."
        case .crashed, .failed, .incompatible, nil:
            message = "The password verifier does not say whether you have a password."
        }
        return Check(name: "passcode", state: .failed, message: message, remedy: remedy)
    }

    private var passcodeDelay: Check? {
        delay.map { delay in
            Check(
                name: "passcode-delay",
                state: .warning,
                message: "After too many wrong passwords, you cannot enter a password for "
                    + "\(delay.left.inWords), until \(delay.until).",
                remedy: "Wait until \(delay.until)."
            )
        }
    }

    private var session: Check? {
        if facts.isRemote {
            return Check(
                name: "session",
                state: .warning,
                message: "You are in a remote session: sensors are not used.",
                remedy: "Sit down at the machine, or give your password: localauthctl agent."
            )
        }
        if let session = facts.session { return ok("session", "You are in session \(session).") }
        return Check(
            name: "session",
            state: .warning,
            message: facts.absence.refusal.message,
            remedy: Self.remedy(for: facts.absence, isDesktop: isDesktop)
        )
    }

    private var enrolment: Check {
        let count = facts.sensors.filter { $0.availability == .usable }
            .reduce(0) { $0 + $1.templates }
        if count > 0 {
            return ok(
                "enrolment",
                count == 1
                    ? "You have 1 template on usable sensors."
                    : "You have \(count) templates on usable sensors."
            )
        }
        return Check(
            name: "enrolment",
            state: .warning,
            message: "You have no fingerprint, face or security key enrolled.",
            remedy: "Run localauthctl enroll."
        )
    }

    private var biometry: Check {
        guard let refusal else { return ok("biometry", "Biometry can be used.") }
        let remedy =
            switch refusal.code {
            case .biometryLockout:
                delay.map { delay in
                    "Wait until \(delay.until), "
                        + "then give your password: localauthctl evaluate --policy 2."
                } ?? "Give your password: localauthctl evaluate --policy 2."
            case .biometryNotEnrolled: "Run localauthctl enroll."
            case .passcodeNotSet: "Set a password with passwd."
            case .biometryDisconnected: "Connect your sensor."
            case _ where facts.isRemote: "Sit down at the machine."
            default: "Connect or start a sensor."
            }
        return Check(name: "biometry", state: .warning, message: refusal.message, remedy: remedy)
    }

    /// Nil where an agent would not help: what is wrong with the session is said there.
    private var agent: Check? {
        guard let absence else { return ok("agent", "A prompt agent serves you.") }
        guard [.noAgent, .noAgentThere].contains(absence) else { return nil }
        return Check(
            name: "agent",
            state: .failed,
            message: "No prompt agent serves you.",
            remedy: Self.remedy(for: absence, isDesktop: isDesktop)
        )
    }

    /// XInput 2 gives every client of an X server the keys as raw events, whoever has grabbed them.
    private var display: Check? {
        guard isX11 else { return nil }
        return Check(
            name: "display",
            state: .warning,
            message: "Any program of this X11 session can read a password that you type.",
            remedy: "Choose a Wayland session when you log in."
        )
    }

    /// What a caller who can't be asked does about it (L28).
    static func remedy(for absence: Absence, isDesktop: Bool) -> String {
        switch absence {
        case .noSession: "Log in at the machine."
        case .otherUser: "Ask in a session of your own: su and sudo make none."
        case .inactive: "Switch to your session."
        case .locked: "Unlock the screen."
        case .asleep: "Wait until the system is awake."
        case .noAgent where isDesktop, .noAgentThere where isDesktop:
            "Log out and in again: prompts start with the desktop (package localauth-agent)."
        case .noAgentThere:
            "Start a prompt in your session at the machine: localauthctl agent --session."
        case .noAgent: "Start a prompt: localauthctl agent."
        case .unknown: "Try again, or look into the log of systemd-logind."
        }
    }

    private var monitor: Check {
        ok(
            "monitors",
            monitors == 0
                ? "No monitor is running."
                : "Connections that watch: "
                    + "\(monitors)."
        )
    }

    private var options: Check? {
        guard !unknownOptions.isEmpty else { return nil }
        let names = unknownOptions.joined(separator: ", ")
        return Check(
            name: "options",
            state: .warning,
            message: "Programs gave options that are not known, and were ignored: \(names).",
            remedy: "Correct their names: man 5 org.localauth.Authentication1, and its like."
        )
    }

    func ok(_ name: String, _ message: String) -> Check {
        Check(name: name, state: .ok, message: message)
    }
}

/// What callers hear of a mistake (L29).
extension ConfigurationMistake {
    nonisolated static let remedy = "Correct that line: the file is read again at once."

    var message: String { "The settings have a mistake: \(error)" }
}

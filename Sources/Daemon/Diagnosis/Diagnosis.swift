import AuthEngine
import DBus
import LocalAuthBus

/// The state of the service from the point of view of one caller, and the checks that follow from
/// it.
struct Diagnosis: Sendable {
    struct Check: Hashable, Sendable {
        enum State: String, Sendable {
            case ok
            case warning
            case failed
        }

        let name: String
        let state: State
        private let finding: Sentence
        private let advice: Sentence

        init(name: String, state: State, message: Sentence, remedy: Sentence = "") {
            (self.name, self.state, finding, advice) = (name, state, message, remedy)
        }

        var message: String { finding.text }
        /// The advice; empty for an ok check.
        var remedy: String { advice.text }

        var wire: [String: Variant] {
            [
                "name": .string(name), "state": .string(state.rawValue),
                "message": .string(message), "remedy": .string(remedy),
                "message-format": .string(finding.format),
                "message-values": .strings(finding.values),
                "remedy-format": .string(advice.format),
                "remedy-values": .strings(advice.values),
            ]
        }
    }

    struct Sensor: Hashable, Sendable {
        var name: String
        var description = ""
        /// Why the sensor can't be used; nil if it can.
        var unavailability: Unavailability?
        /// Why the sensor is not trusted; nil if it is.
        var distrust: String?
        /// The sensor's last protocol violation, if any.
        var fault: String?
        /// The sensor's report about its own health; nil if the daemon did not query it.
        var health: Health?
        /// The error of the sensor's last operation; nil after a success.
        var complaint: String?
        var templates = 0
    }

    struct Health: Hashable, Sendable {
        var state: HealthState
        var message: String
    }

    /// The time for which the service accepts no password, and the time of day when it ends.
    struct Delay: Hashable, Sendable {
        var left: Duration
        var until: String
    }

    enum KeychainState: Hashable, Sendable {
        /// No user has stored an item yet.
        case unused
        case open(key: String, isCredential: Bool, items: Int)
        /// An earlier database was damaged or lost, and the caller has stored no item since.
        /// `setAside` is the damaged file, if this process moved it.
        case lost(setAside: String?)
        case refused(message: String, needsMasterKey: Bool)
    }

    var isSystemBus = false
    /// The mistake in the settings, and whether the service refuses calls because of it.
    var mistake: (error: ConfigurationError, isRefusing: Bool)?
    /// Whether the bus policy is installed; nil on a session bus.
    var hasPolicy: Bool?
    var hasJournal = true
    /// The path of a damaged database that the service moved away.
    var setAside: String?
    /// Nil if the service has no keychain.
    var keychain: KeychainState?
    /// Whether systemd may give the service a sealed master key.
    var takesCredentials = true
    /// Why there is no password verifier; nil if there is a verifier.
    var verifierAbsence: PasscodeVerifier.Absence?
    var facts = Facts()
    var delay: Delay?
    /// Nil without a login manager.
    var isLidClosed: Bool?
    /// Whether the bus knows fprintd; nil if no sensor needs it.
    var hasFprintd: Bool?
    var sensors: [Sensor] = []
    var refusal: Refusal?
    /// Why no agent can prompt the caller; nil if an agent can.
    var absence: Absence? = .noAgent
    /// Whether the caller's session is a desktop, which starts agents by itself.
    var isDesktop = false
    var isX11 = false
    var monitors = 0
    /// Unknown options that the caller's programs sent, with their methods.
    var unknownOptions: [String] = []

    /// All checks, in the order in which an evaluation would fail.
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
                message: Sentence(quoting: message),
                remedy: remedy(needsMasterKey: needsMasterKey)
            )
        }
    }

    private func remedy(needsMasterKey: Bool) -> Sentence {
        guard needsMasterKey else { return "Your items are safe. Mend the cause, then try again." }
        guard takesCredentials else {
            return "A drop-in clears LoadCredential= of localauthd, as in containers of LXC: "
                + "a sealed key needs the line."
        }
        return "Put the master key back, or restore it: localauthctl keychain restore."
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
        let message: Sentence
        var remedy: Sentence = "Look into its log: journalctl -u localauth-passcode."
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
            message: Sentence(quoting: facts.absence.refusal.message),
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
        let remedy: Sentence =
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
        return Check(
            name: "biometry",
            state: .warning,
            message: Sentence(quoting: refusal.message),
            remedy: remedy
        )
    }

    /// Nil for other absences, because the check of the session reports them.
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

    /// XInput 2 sends keys as raw events to every client of an X server, even during a grab.
    private var display: Check? {
        guard isX11 else { return nil }
        return Check(
            name: "display",
            state: .warning,
            message: "Any program of this X11 session can read a password that you type.",
            remedy: "Choose a Wayland session when you log in."
        )
    }

    /// Returns the advice for a caller who can't be prompted (L28).
    static func remedy(for absence: Absence, isDesktop: Bool) -> Sentence {
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

    func ok(_ name: String, _ message: Sentence) -> Check {
        Check(name: name, state: .ok, message: message)
    }
}

internal import Localization

/// The state of a prompt at one moment, complete enough for a window to draw.
public struct PromptState: Hashable, Sendable {
    /// An active sensor.
    public struct Sensor: Hashable, Sendable {
        /// 0 companion, 1 fingerprint, 2 face, 4 iris.
        public let biometryType: UInt32
        /// Whether the sensor has reported that it looks for a match.
        public fileprivate(set) var isReady = false
        /// A sentence while another program uses the sensor.
        fileprivate var isInUse: String?
    }

    /// The mood that sets colours and icons.
    public enum Mood: Hashable, Sendable {
        case asking
        case failed
        case recognized
        case locked
    }

    public let details: PromptDetails
    /// The active sensors, at most one entry a kind.
    public private(set) var sensors: [Sensor]
    /// Instructions for the user; empty where the field or the button is enough.
    public var invitation: String {
        let types = sensors.map(\.biometryType).filter(isAtWork)
        guard !isOver, mood != .recognized, !types.isEmpty || isAtCompanion else { return "" }
        return PromptText.invitation(details, at: types, takesPassword: takesSecret)
    }
    /// The last event, and the sensors in use by other programs.
    public var statusText: String {
        let others = isOver ? [] : sensors.compactMap(\.isInUse)
        return ((lastEvent.isEmpty ? [] : [lastEvent]) + others).joined(separator: "\n")
    }
    private(set) var lastEvent: String
    /// The sentence about the last miss, until the next event; a hint is appended to it.
    private var miss: String?
    public private(set) var mood = Mood.asking
    public private(set) var showsSecret: Bool
    /// Whether input is accepted at this moment.
    public private(set) var takesSecret: Bool
    /// Whether the secret is the app's own password.
    public private(set) var asksApplicationPassword: Bool
    /// The maximum length of the secret in bytes.
    public var longestSecret: Int {
        asksApplicationPassword ? SecretLine.longestPassword : SecretLine.longestPasscode
    }
    /// Whether a submitted secret awaits its verdict.
    private var isChecking = false
    public private(set) var canFallBack = false
    /// Whether a match awaits confirmation.
    public private(set) var canConfirm = false
    public private(set) var isOver = false
    /// Names of the sensors that gave up.
    private var failed: Set<String> = []
    /// Whether the prompt waits for companions only.
    private var isAtCompanion: Bool

    public init(_ details: PromptDetails) {
        self.details = details
        let types = details.types
        sensors = details.stage == .biometry ? types.map { Sensor(biometryType: $0) } : []
        lastEvent = ""
        isAtCompanion = details.stage == .biometry && types.isEmpty
        showsSecret = details.takesPasscodeAtOnce
        takesSecret = showsSecret
        asksApplicationPassword = details.stage == .applicationPassword
    }

    /// Applies one event.
    public mutating func apply(_ progress: PromptProgress) {
        guard !isOver else { return }
        let last = miss
        miss = nil
        let sentence = PromptText.sentence(progress)
        switch progress {
        // The invitation and the picture show these events.
        case .promptShown, .sensorReady, .sensorBusy: break
        default: lastEvent = sentence ?? lastEvent
        }
        switch progress {
        case .promptShown:
            break
        case .sensorReady(let sensor, let type):
            failed.remove(sensor)
            mark(type, isReady: true)
        case .sensorBusy(_, let type, _): mark(type, isReady: false, isInUse: sentence)
        case .sensorFailed(let sensor, let type, _):
            failed.insert(sensor)
            if type == 0 { isAtCompanion = false }
            mark(type, isReady: false)
        case .hint:
            if let last, lastEvent != last {
                lastEvent = "\(last) \(lastEvent)"
            } else {
                mood = .asking
            }
        case .noMatch:
            mood = .failed
            miss = lastEvent
        case .fallbackAvailable:
            canFallBack = details.fallbackTitle != ""
        case .confirmationRequired:
            canConfirm = true
            mood = .recognized
        case .passcodeRequired(let cause, _):
            let isAskedAnew = Self.asksAnew(cause)
            // These causes concern the password alone, so the sensors keep looking.
            if !isAskedAnew { (sensors, isAtCompanion) = ([], false) }
            mood = .asking
            // A password under check still gets its verdict.
            guard isAskedAnew || asksApplicationPassword || !isChecking else { break }
            ask(forApplicationPassword: false)
        case .passcodeRejected(let left):
            isChecking = false
            mood = .failed
            takesSecret = left > 0
        case .passcodeDelayed:
            isChecking = false
            mood = .failed
            takesSecret = false
        case .applicationPasswordRequired:
            ask(forApplicationPassword: true)
            (sensors, isAtCompanion) = ([], false)
            mood = .asking
        case .secretRefused:
            (mood, takesSecret, isChecking) = (.failed, true, false)
        case .success:
            mood = .recognized
            takesSecret = false
            (canConfirm, canFallBack) = (false, false)
        }
    }

    /// Records that a secret was sent; false means that sending failed.
    public mutating func submitted(_ isSent: Bool) {
        guard isSent else { return apply(.secretRefused) }
        (mood, takesSecret, isChecking) = (.asking, false, true)
        lastEvent = localized("Checking …")
    }

    /// Withdraws both offers after the user confirmed or took the fallback.
    public mutating func withdrawOffers() {
        (canConfirm, canFallBack) = (false, false)
    }

    public mutating func end(_ outcome: PromptOutcome) {
        isOver = true
        takesSecret = false
        (canConfirm, canFallBack) = (false, false)
        lastEvent = PromptText.sentence(outcome)
        mood =
            switch outcome {
            case .success: .recognized
            case .lockout: .locked
            default: .failed
            }
    }

    /// Whether this cause of `passcode-required` asks for a fresh password because the last
    /// password got no verdict.
    static func asksAnew(_ cause: String) -> Bool {
        ["verifier-failed", "delay-over"].contains(cause)
    }

    private func isAtWork(_ type: UInt32) -> Bool {
        let names = zip(details.sensors, details.sensorTypes).filter { $1 == type }.map(\.0)
        return names.isEmpty ? failed.isEmpty : !failed.isSuperset(of: names)
    }

    private mutating func mark(_ type: UInt32, isReady: Bool, isInUse: String? = nil) {
        mood = .asking
        guard let index = sensors.firstIndex(where: { $0.biometryType == type }) else { return }
        sensors[index].isReady = isReady
        sensors[index].isInUse = isInUse
    }

    private mutating func ask(forApplicationPassword isForApplication: Bool) {
        (showsSecret, takesSecret, isChecking) = (true, true, false)
        asksApplicationPassword = isForApplication
        (canConfirm, canFallBack) = (false, false)
    }
}

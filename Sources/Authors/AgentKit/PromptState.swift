internal import Localization

/// What a prompt shows at one moment: all that is left to a window is to draw it.
public struct PromptState: Hashable, Sendable {
    /// A sensor at work.
    public struct Sensor: Hashable, Sendable {
        /// 0 for a companion, 1 fingerprint, 2 face, 4 iris.
        public let biometryType: UInt32
        /// Whether it has said that it looks.
        public fileprivate(set) var isReady = false
        /// A sentence while another program has the sensor.
        fileprivate var isInUse: String?
    }

    /// How things stand; what colours and icons follow.
    public enum Mood: Hashable, Sendable {
        case asking
        case failed
        case recognized
        case locked
    }

    /// What it was begun with.
    public let details: PromptDetails
    /// The sensors at work, one for each kind.
    public private(set) var sensors: [Sensor]
    /// The user's choices at this moment; empty where the field or the button alone shows them.
    public var invitation: String {
        let types = sensors.map(\.biometryType).filter(isAtWork)
        guard !isOver, mood != .recognized, !types.isEmpty || isAtCompanion else { return "" }
        return PromptText.invitation(details, at: types, takesPassword: takesSecret)
    }
    /// The last event, and the sensors that other programs use.
    public var words: String {
        let others = isOver ? [] : sensors.compactMap(\.isInUse)
        return ((news.isEmpty ? [] : [news]) + others).joined(separator: "\n")
    }
    private(set) var news: String
    /// What was said of a miss, until something else happens: a hint is said behind it.
    private var miss: String?
    /// How things stand.
    public private(set) var mood = Mood.asking
    /// Whether there is a place to type a secret.
    public private(set) var showsSecret: Bool
    /// Whether what is typed there is taken now.
    public private(set) var takesSecret: Bool
    /// Whether the secret is the app's own password.
    public private(set) var asksApplicationPassword: Bool
    /// The longest secret that is taken, in bytes.
    public var longestSecret: Int {
        asksApplicationPassword ? SecretLine.longestPassword : SecretLine.longestPasscode
    }
    /// Whether a secret was sent and its verdict has not come.
    private var isChecking = false
    /// Whether the fallback is on offer.
    public private(set) var canFallBack = false
    /// Whether a match waits to be confirmed.
    public private(set) var canConfirm = false
    /// Whether it is over.
    public private(set) var isOver = false
    /// The sensors that gave up.
    private var failed: Set<String> = []
    /// Whether companions alone are asked.
    private var isAtCompanion: Bool

    /// The first moment of a prompt.
    public init(_ details: PromptDetails) {
        self.details = details
        let types = details.types
        sensors = details.stage == .biometry ? types.map { Sensor(biometryType: $0) } : []
        news = ""
        isAtCompanion = details.stage == .biometry && types.isEmpty
        showsSecret = details.takesPasscodeAtOnce
        takesSecret = showsSecret
        asksApplicationPassword = details.stage == .applicationPassword
    }

    /// Something happened.
    public mutating func take(_ progress: PromptProgress) {
        guard !isOver else { return }
        let last = miss
        miss = nil
        let sentence = PromptText.sentence(progress)
        switch progress {
        // The invitation and the picture say these.
        case .promptShown, .sensorReady, .sensorBusy: break
        default: news = sentence ?? news
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
            if let last, news != last { news = "\(last) \(news)" } else { mood = .asking }
        case .noMatch:
            mood = .failed
            miss = news
        case .fallbackAvailable:
            canFallBack = details.fallbackTitle != ""
        case .confirmationRequired:
            canConfirm = true
            mood = .recognized
        case .passcodeRequired(let cause, _):
            let isAskedAnew = Self.asksAnew(cause)
            // These causes are about the password alone: sensors look on.
            if !isAskedAnew { (sensors, isAtCompanion) = ([], false) }
            mood = .asking
            // A password that is being checked still gets its verdict.
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

    /// A secret was sent, or could not be.
    public mutating func submitted(_ isSent: Bool) {
        guard isSent else { return take(.secretRefused) }
        (mood, takesSecret, isChecking) = (.asking, false, true)
        news = localized("Checking …")
    }

    /// The match was confirmed, or the fallback taken; each once.
    public mutating func answered() {
        (canConfirm, canFallBack) = (false, false)
    }

    /// It is over.
    public mutating func end(_ outcome: PromptOutcome) {
        isOver = true
        takesSecret = false
        (canConfirm, canFallBack) = (false, false)
        news = PromptText.sentence(outcome)
        mood =
            switch outcome {
            case .success: .recognized
            case .lockout: .locked
            default: .failed
            }
    }

    /// Whether a cause of `passcode-required` asks for another password, as the last one got no
    /// verdict.
    static func asksAnew(_ cause: String) -> Bool {
        ["verifier-failed", "delay-over"].contains(cause)
    }

    /// Whether a sensor of this type has not failed.
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

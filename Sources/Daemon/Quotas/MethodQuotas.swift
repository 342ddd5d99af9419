import BusGuard
import DBus
import LocalAuthBus

/// What bounds each method of the service (L21): a method that costs is counted until it is
/// answered, for its connection and its user.
enum MethodQuotas {
    /// The most that the calls, contexts and credentials of one user hold together.
    static let bytesPerUser = 8 * 1024 * 1024
    /// What those of all users hold together before each may have an equal share alone.
    ///
    /// Twice as much, which is the bound, is half of the unit's `MemoryMax=`.
    static let bytesOfAll = 128 * 1024 * 1024
    /// Unanswered questions.
    static let questions = CallQuota.Limit(perConnection: 64, perUser: 256)
    /// Unanswered questions whose answer many share: each costs its message, and no question more.
    static let shared = CallQuota.Limit(perConnection: 512, perUser: 1024)
    /// How many connections' worth of evaluations one user may have unanswered.
    static let connectionsPerUser = 8

    /// The bounds by the administrator's settings.
    static func limits(_ configuration: Configuration) -> [CallQuota.Kind: CallQuota.Limit] {
        let pending = configuration.pendingPerConnection
        return [
            .question: questions, .shared: shared,
            .use: .init(perConnection: pending, perUser: pending * connectionsPerUser),
        ]
    }

    /// The kind of each method that the service has.
    static let table: CallQuota.Table = [
        Authentication1.interface: [
            "CanEvaluate": .shared, "CanInteract": .question, "CreateContext": .immediate,
            "Diagnose": .question,
            "Evaluate": .use, "Invalidate": .immediate, "Monitor": .immediate,
            "RegisterAgent": .question, "ReportUnlock": .question, "RequirePasscode": .question,
            "SubmitCancel": .immediate, "SubmitConfirm": .immediate, "SubmitFallback": .immediate,
            "SubmitPasscode": .immediate, "SubmitPassword": .immediate,
            "UnregisterAgent": .immediate,
        ],
        Context1.interface: [
            "CanEvaluate": .shared, "ClearCredential": .immediate, "Evaluate": .use,
            "EvaluateAccessControl": .use, "Invalidate": .immediate,
            "IsCredentialSet": .immediate, "Release": .immediate, "SetCredential": .immediate,
        ],
        Device1.interface: [
            "CancelEnroll": .immediate, "Enroll": .use, "ListLearned": .question,
            "ListTemplates": .question, "RemoveAllTemplates": .use, "RemoveLearned": .use,
            "RemoveTemplate": .use, "RenameTemplate": .question,
        ],
        Keychain1.interface: [
            "Add": .question, "CreateKey": .question, "Decrypt": .use, "Delete": .question,
            "KeyExchange": .use, "Read": .use, "Search": .question, "SetSecret": .question,
            "Sign": .use, "Update": .question,
        ],
        SensorHost1.interface: ["NoMatch": .question],
    ]
}

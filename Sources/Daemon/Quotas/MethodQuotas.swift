import BusGuard
import DBus
import LocalAuthBus

/// Bounds on each method's unanswered calls of a connection and of a user (L21).
enum MethodQuotas {
    /// The most memory for calls, contexts and credentials of one user, in bytes.
    static let bytesPerUser = 8 * 1024 * 1024
    /// The memory of all users, in bytes, above which each user is limited to an equal share.
    ///
    /// The hard bound is twice this value, which is half of the unit's `MemoryMax=`.
    static let bytesOfAll = 128 * 1024 * 1024
    /// Unanswered calls that query other processes.
    static let questions = CallQuota.Limit(perConnection: 64, perUser: 256)
    /// Unanswered calls that share a query: each costs memory for its message, but no further
    /// query.
    static let shared = CallQuota.Limit(perConnection: 512, perUser: 1024)
    /// The factor from a connection's limit of evaluations to a user's limit.
    static let connectionsPerUser = 8

    static func limits(_ configuration: Configuration) -> [CallQuota.Kind: CallQuota.Limit] {
        let pending = configuration.pendingPerConnection
        return [
            .question: questions, .shared: shared,
            .use: .init(perConnection: pending, perUser: pending * connectionsPerUser),
        ]
    }

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

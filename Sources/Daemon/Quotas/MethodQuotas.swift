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
            .query: questions, .sharedQuery: shared,
            .interactive: .init(perConnection: pending, perUser: pending * connectionsPerUser),
        ]
    }

    static let table: CallQuota.Table = [
        Authentication1.interface: [
            "CanEvaluate": .sharedQuery, "CanInteract": .query, "CreateContext": .immediate,
            "Diagnose": .query,
            "Evaluate": .interactive, "Invalidate": .immediate, "Monitor": .immediate,
            "RegisterAgent": .query, "ReportUnlock": .query, "RequirePasscode": .query,
            "SubmitCancel": .immediate, "SubmitConfirm": .immediate, "SubmitFallback": .immediate,
            "SubmitPasscode": .immediate, "SubmitPassword": .immediate,
            "UnregisterAgent": .immediate,
        ],
        Context1.interface: [
            "CanEvaluate": .sharedQuery, "ClearCredential": .immediate, "Evaluate": .interactive,
            "EvaluateAccessControl": .interactive, "Invalidate": .immediate,
            "IsCredentialSet": .immediate, "Release": .immediate, "SetCredential": .immediate,
        ],
        Device1.interface: [
            "CancelEnroll": .immediate, "Enroll": .interactive, "ListLearned": .query,
            "ListTemplates": .query, "RemoveAllTemplates": .interactive,
            "RemoveLearned": .interactive,
            "RemoveTemplate": .interactive, "RenameTemplate": .query,
        ],
        Keychain1.interface: [
            "Add": .query, "CreateKey": .query, "Decrypt": .interactive, "Delete": .query,
            "KeyExchange": .interactive, "Read": .interactive, "ReadMatching": .interactive,
            "Search": .query,
            "SetSecret": .query,
            "Sign": .interactive, "Update": .query,
        ],
        SensorHost1.interface: ["NoMatch": .query],
    ]
}

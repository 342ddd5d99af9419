import LocalAuthBus

/// The option names that each method knows; a diagnosis reports other options (``UnknownOptions``).
enum OptionNames {
    /// Names by interface and method, for methods with options.
    static let table: [String: [String: Set<String>]] = [
        Authentication1.interface: [
            "Evaluate": evaluation.union(["fallback-title", "lock-screen", "uid"]),
            "CreateContext": [
                "LocalizedFallbackTitle", "LocalizedCancelTitle", "LocalizedReason",
                "InteractionNotAllowed", "ReuseDuration", "SuccessDuration", "MaxBiometryFailures",
            ],
            "RegisterAgent": ["fallback", "lock-screen", "process", "session"],
            "Monitor": [], "SubmitPassword": ["sealed"],
        ],
        Context1.interface: [
            "SetCredential": ["sealed"],
            "Evaluate": evaluation.union(["fallback-title"]),
            "EvaluateAccessControl": evaluation.union(["fallback-title", "requester"]),
        ],
        Device1.interface: [
            "ListTemplates": ["uid"], "ListLearned": ["uid"], "RenameTemplate": ["uid"],
            "Enroll": change, "RemoveTemplate": change, "RemoveLearned": change,
            "RemoveAllTemplates": change,
        ],
        Keychain1.interface: [
            "Add": ["context", "replaces", "in-place", "key-material", "created", "sealed"],
            "CreateKey": ["context", "temporary"],
            "Search": ["skip-authenticated"],
            "ReadMatching": ["skip-authenticated", "secrets", "seal-to", "context", "requester"],
            "Update": ["keep"],
            "SetSecret": ["context", "attributes", "sealed"],
            "Sign": use, "Read": use.union(["seal-to"]), "Decrypt": use.union(["seal-to"]),
            "KeyExchange": use.union(["seal-to", "shared-info", "size"]),
        ],
    ]

    private static let evaluation: Set = [
        "timeout", "cancel-title", "interaction-not-allowed", "reuse-duration", "sensors",
        "minimum-strength", "require-confirmation", "parent-window", "activation-token",
    ]
    static let accessControl: Set = ["flags", "accessible"]
    static let requester: Set = ["name", "pid"]
    private static let change: Set = [
        "context", "timeout", "uid", "parent-window", "activation-token",
    ]
    private static let use = evaluation.union(["context", "requester"])
}

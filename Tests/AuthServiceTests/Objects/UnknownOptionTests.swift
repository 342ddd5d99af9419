import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Options that no method knows are ignored, and reported to the user.
@Suite("Unknown options", .timeLimit(.minutes(10)))
struct UnknownOptionTests {
    /// Returns the diagnosis's check of options; nil if there is none.
    @BusActor
    private static func finding(
        _ bench: ServiceBench,
        for connection: Connection? = nil
    ) async throws -> [String: Variant]? {
        try await bench.manager(connection ?? bench.client).diagnose()
            .first { $0["name"] == .string("options") }
    }

    /// A method and a call of it.
    ///
    /// A star marks options in an access control.
    private typealias Call = (String, @BusActor @Sendable () async throws -> Void)

    private static let odd: [String: Variant] = ["time-out": .uint64(5)]
    /// Unknown keys for an access control, which is a dictionary of its own.
    private static let oddControl: [String: Variant] = ["flagz": .uint64(5)]

    @Test("An unknown option is no error, and a diagnosis reports name, method and remedy")
    func told() async throws {
        try await ServiceBench.run { bench in
            #expect(try await Self.finding(bench) == nil)
            _ = try await bench.manager.createContext(properties: [
                "LocalizedReason": .string("x"), "ReuseDuration": .double(1),
            ])
            #expect(try await Self.finding(bench) == nil)
            let path = try await bench.manager.createContext(properties: [
                "LocalisedReason": .string("x")
            ])
            #expect(!path.rawValue.isEmpty)
            let finding = try #require(try await Self.finding(bench))
            #expect(finding["state"] == .string("warning"))
            let message = "LocalisedReason (Authentication1.CreateContext)."
            #expect(finding["message"]?.asString?.hasSuffix(": " + message) == true)
            #expect(finding["remedy"]?.asString?.contains("man 5 org.localauth.") == true)
        }
    }

    @Test("Each method with options reports unknown options")
    func methods() async throws {
        try await ServiceBench.run { bench in
            _ = try await bench.sensor()
            let calls =
                try await Self.calls(bench) + Self.deviceCalls(bench) + Self.keychainCalls(bench)
                + Self.useCalls(bench)
            for (method, call) in calls {
                let name = method.hasPrefix("*") ? "flagz" : "time-out"
                // Ignore other errors of the call.
                do { try await call() } catch is DBusError {}
                let message = try await Self.finding(bench)?["message"]?.asString ?? ""
                let phrase = ": \(name) (\(method.trimmingPrefix("*")))"
                #expect(message.contains(phrase), "\(method): \(message)")
            }
        }
    }

    /// Returns a call of each method with an unknown option.
    @BusActor
    private static func calls(_ bench: ServiceBench) async throws -> [Call] {
        let (manager, odd) = (bench.manager, Self.odd)
        let context = try await bench.context()
        return [
            (
                "Authentication1.CreateContext",
                { _ = try await manager.createContext(properties: odd) }
            ),
            (
                "Authentication1.RegisterAgent",
                {
                    _ = try await manager.registerAgent(
                        agent: ObjectPath(unchecked: "/x"),
                        options: odd
                    )
                }
            ),
            ("Authentication1.Monitor", { try await manager.monitor(options: odd) }),
            (
                "Authentication1.Evaluate",
                {
                    _ = try await manager.evaluate(policy: 9, reason: "x", options: odd)
                }
            ),
            (
                "Context1.Evaluate",
                {
                    _ = try await context.evaluate(policy: 9, reason: "x", options: odd)
                }
            ),
            (
                "*Context1.EvaluateAccessControl",
                {
                    _ = try await context.evaluateAccessControl(
                        accessControl: oddControl,
                        operation: 9,
                        reason: "x",
                        options: [:]
                    )
                }
            ),
            (
                "Context1.EvaluateAccessControl",
                {
                    _ = try await context.evaluateAccessControl(
                        accessControl: [:],
                        operation: 9,
                        reason: "x",
                        options: odd
                    )
                }
            ),
        ]
    }

    /// Returns calls of a sensor's methods.
    @BusActor
    private static func deviceCalls(_ bench: ServiceBench) -> [Call] {
        let device = bench.device()
        let wrong = odd.merging(["uid": .string("nobody")]) { $1 }
        return [
            ("Device1.ListTemplates", { _ = try await device.listTemplates(options: wrong) }),
            ("Device1.ListLearned", { _ = try await device.listLearned(options: wrong) }),
            (
                "Device1.RemoveLearned",
                {
                    try await device.removeLearned(id: "x", options: wrong)
                }
            ),
            ("Device1.Enroll", { _ = try await device.enroll(label: "x", options: wrong) }),
            (
                "Device1.RenameTemplate",
                {
                    try await device.renameTemplate(id: "x", label: "x", options: wrong)
                }
            ),
            (
                "Device1.RemoveTemplate",
                {
                    try await device.removeTemplate(id: "x", options: wrong)
                }
            ),
            (
                "Device1.RemoveAllTemplates",
                {
                    _ = try await device.removeAllTemplates(options: wrong)
                }
            ),
        ]
    }

    /// Returns calls of the keychain's methods.
    @BusActor
    private static func keychainCalls(_ bench: ServiceBench) throws -> [Call] {
        let (keychain, odd, secret) = (bench.keychain().proxy, Self.odd, Array("word".utf8))
        return [
            (
                "*Keychain1.Add",
                {
                    _ = try await keychain.add(
                        attributes: [:],
                        secret: secret,
                        accessControl: oddControl,
                        options: [:]
                    )
                }
            ),
            (
                "Keychain1.Add",
                {
                    _ = try await keychain.add(
                        attributes: [:],
                        secret: secret,
                        accessControl: [:],
                        options: odd
                    )
                }
            ),
            (
                "*Keychain1.CreateKey",
                {
                    _ = try await keychain.createKey(
                        attributes: [:],
                        accessControl: oddControl,
                        options: [:]
                    )
                }
            ),
            (
                "Keychain1.CreateKey",
                {
                    _ = try await keychain.createKey(
                        attributes: [:],
                        accessControl: [:],
                        options: odd
                    )
                }
            ),
            ("Keychain1.Search", { _ = try await keychain.search(query: [:], options: odd) }),
            (
                "Keychain1.Update",
                {
                    try await keychain.update(id: "x", attributes: [:], options: odd)
                }
            ),
            (
                "Keychain1.SetSecret",
                {
                    try await keychain.setSecret(id: "x", secret: secret, options: odd)
                }
            ),
        ]
    }

    /// Returns calls of the methods that use an item.
    @BusActor
    private static func useCalls(_ bench: ServiceBench) throws -> [Call] {
        let (keychain, odd) = (bench.keychain().proxy, Self.odd)
        return [
            (
                "Keychain1.Read",
                {
                    _ = try await keychain.read(id: "x", reason: "x", options: odd)
                }
            ),
            (
                "Keychain1.Sign",
                {
                    _ = try await keychain.sign(
                        id: "x",
                        algorithm: "ecdsa-message-sha256",
                        data: [],
                        reason: "x",
                        options: odd
                    )
                }
            ),
            (
                "Keychain1.Decrypt",
                {
                    _ = try await keychain.decrypt(
                        id: "x",
                        algorithm: KeychainObject.encryption,
                        data: [],
                        reason: "x",
                        options: odd
                    )
                }
            ),
            (
                "Keychain1.KeyExchange",
                {
                    _ = try await keychain.keyExchange(
                        id: "x",
                        algorithm: "ecdh",
                        publicKey: [],
                        reason: "x",
                        options: odd
                    )
                }
            ),
        ]
    }

    @Test("Users see their own unknown options, root sees all with their users")
    func users() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let other = try Connection(.address(Person.address(bench.bus, uid: 1)))
            for connection in [person.connection, other] {
                await expectName(.invalidArgs) {
                    _ = try await bench.manager(connection)
                        .evaluate(
                            policy: 9,
                            reason: "x",
                            options: [
                                "for-\(connection === other ? "other" : "person")": .bool(true)
                            ]
                        )
                }
            }
            let own = try await Self.finding(bench, for: other)?["message"]?.asString ?? ""
            #expect(own.hasSuffix(": for-other (Authentication1.Evaluate)."))
            let all = try await Self.finding(bench)?["message"]?.asString ?? ""
            #expect(all.contains("for-other (Authentication1.Evaluate, user 1)"))
            #expect(all.contains("for-person (Authentication1.Evaluate, user 65534)"))
        }
    }

    @Test("The last eight options are kept, with plain and short names")
    func bounds() async throws {
        try await ServiceBench.run { bench in
            let long = String(repeating: "ä", count: 128)
            _ = try await bench.manager.createContext(properties: [
                "a\u{1B}[2J\u{202E}b\nc": .bool(true), "": .bool(true), long: .bool(true),
            ])
            let plain = try await Self.finding(bench)?["message"]?.asString ?? ""
            #expect(plain.contains("a??2J?b?c (Authentication1.CreateContext)"))
            #expect(plain.contains(" ? (Authentication1.CreateContext)"))
            #expect(plain.contains(" " + String(repeating: "?", count: 64) + " ("))
            #expect(!plain.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
            for number in 0..<20 {
                _ = try await bench.manager.createContext(properties: ["x\(number)": .bool(true)])
            }
            let last = try await Self.finding(bench)?["message"]?.asString ?? ""
            let names = last.matches(of: /x[0-9]+/).map { String($0.output) }
            #expect(names == (12..<20).reversed().map { "x\($0)" })
            let many = (0..<1000).map { ("y\($0)", Variant.bool(true)) }
            _ = try await bench.manager.createContext(
                properties: Dictionary(uniqueKeysWithValues: many)
            )
            let few = try await Self.finding(bench)?["message"]?.asString ?? ""
            #expect(few.matches(of: /y[0-9]+/).count == 8)
        }
    }

    /// All options in the contract, by method (contract 2, 2.1, 2.2 and 6).
    private static let contract: [String: [String: Set<String>]] = {
        let evaluate: Set = [
            "timeout", "fallback-title", "cancel-title", "interaction-not-allowed",
            "reuse-duration", "sensors", "minimum-strength", "require-confirmation",
            "parent-window", "activation-token",
        ]
        let use: Set = [
            "context", "timeout", "interaction-not-allowed", "parent-window", "activation-token",
            "requester",
        ]
        let change: Set = ["context", "uid"]
        return [
            Authentication1.interface: [
                "Evaluate": evaluate.union(["uid"]),
                "CreateContext": [
                    "SuccessDuration", "LocalizedFallbackTitle", "LocalizedCancelTitle",
                    "LocalizedReason", "InteractionNotAllowed", "ReuseDuration",
                    "MaxBiometryFailures",
                ],
                "RegisterAgent": ["fallback", "process"], "SubmitPassword": ["sealed"],
            ],
            Context1.interface: [
                "Evaluate": evaluate, "EvaluateAccessControl": evaluate.union(["requester"]),
                "SetCredential": ["sealed"],
            ],
            Device1.interface: [
                "ListTemplates": ["uid"], "Enroll": change, "RenameTemplate": ["uid"],
                "RemoveTemplate": change, "RemoveAllTemplates": change,
            ],
            Keychain1.interface: [
                "Add": ["context", "sealed"], "SetSecret": ["sealed"], "CreateKey": ["context"],
                "Search": ["skip-authenticated"], "Read": use.union(["seal-to"]), "Sign": use,
                "Decrypt": use.union(["seal-to"]),
                "KeyExchange": use.union(["seal-to", "shared-info", "size"]),
            ],
        ]
    }()

    @Test("No option of the contract is reported as unknown")
    func ofTheContract() {
        for (interface, methods) in Self.contract {
            for (method, names) in methods {
                let known = OptionNames.table[interface]?[method] ?? []
                #expect(names.subtracting(known).isEmpty, "\(interface).\(method)")
            }
        }
        #expect(OptionNames.requester == ["name", "pid"])
        #expect(OptionNames.accessControl == ["flags", "accessible"])
    }

    @Test("Unknown keys of a requester are reported")
    func ofARequester() async throws {
        try await ServiceBench.run { bench in
            let requester = Variant.dictionary(["name": .string("x"), "pidd": .uint32(1)])
            let context = try await bench.context()
            await expectName(.invalidArgs) {
                _ = try await context.evaluateAccessControl(
                    accessControl: [:],
                    operation: 9,
                    reason: "x",
                    options: ["requester": requester]
                )
            }
            let message = try await Self.finding(bench)?["message"]?.asString
            #expect(message?.hasSuffix(": pidd (Context1.EvaluateAccessControl).") == true)
        }
    }

    private static let interfaces = [
        Authentication1Interface.description, Context1Interface.description,
        Device1Interface.description, Keychain1Interface.description,
    ]

    private static let project =
        #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }

    @Test("The known names match the interface's documentation", arguments: interfaces.map(\.name))
    func documented(interface: String) throws {
        let description = try #require(Self.interfaces.first { $0.name == interface })
        let table = try #require(OptionNames.table[interface])
        let file = Self.project + "/dbus/\(interface).xml"
        let page = String(decoding: try TemporaryFolder.read(file), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let methods = page.split(separator: "<method ").dropFirst()
            .map { String($0.split(separator: "</method>")[0]) }
        #expect(methods.count == description.methods.count)
        var withOptions: Set<String> = []
        for method in methods {
            let name = try #require(method.firstMatch(of: /^name="([A-Za-z]+)"/)).output.1
            guard method.contains(/name="(options|properties)" type="a{sv}" direction="in"/) else {
                continue
            }
            withOptions.insert(String(name))
            let known = try #require(table[String(name)], "\(name)")
            // Options with their type: “`timeout` (t, …”.
            let options = method.split(separator: /Errors:|Result/)[0].split(separator: "Options:")
            let named = options.dropFirst().joined().matches(of: /`([A-Za-z-]+)` \([a-z]+,/)
                .map { String($0.output.1) }
            #expect(Set(named).isSubset(of: known), "\(name)")
            for option in known where !named.contains(option) {
                #expect(page.contains("`\(option)`"), "\(name): \(option)")
            }
        }
        #expect(withOptions == Set(table.keys))
    }
}

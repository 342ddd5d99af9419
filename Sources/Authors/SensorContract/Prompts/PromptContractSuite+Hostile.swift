import BusBench
import DBus
import LocalAuthBus

extension PromptContractSuite {
    /// Texts and calls that no genuine service sends.
    static let hostileChecks = [
        PromptCheck("Control characters in a text move no cursor and ring no bell", .plain) {
            bench in
            let terminal = try bench.requireTerminal()
            let text = "a\u{1B}]0;title\u{7}\u{1B}[2J\u{1B}[31mb\u{9B}5mc\r\nd\u{8}\u{0B}e"
            let handle = try await bench.begin(texts(text))
            for (kind, detail) in hostileEvents(text) {
                try? await bench.update(handle, kind, detail)
            }
            try await bench.finish(handle)
            for sequence in ["\u{1B}]", "\u{1B}[2J", "\u{1B}[31m", "\u{9B}", "\u{7}", "\u{8}"] {
                let isShown = terminal.screen.unicodeScalars.contains(sequence.unicodeScalars)
                try expect(!isShown, "no \(sequence.debugDescription) on the screen")
            }
        },
        PromptCheck("A text can't change the direction of writing", .plain) { bench in
            let controls: [Unicode.Scalar] = [
                "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}",
            ]
            let text = controls.map { "a\($0)b" }.joined()
            let handle = try await bench.begin(texts(text))
            for (kind, detail) in hostileEvents(text) {
                try? await bench.update(handle, kind, detail)
            }
            let shown = try await bench.shown()
            for control in controls {
                let isShown = shown.unicodeScalars.contains(control)
                try expect(!isShown, "no U+\(String(control.value, radix: 16)) on the screen")
            }
        },
        PromptCheck(
            "An overlong text is cut",
            .prompt("Begin", "untrusted display text of at most 512 characters")
        ) { bench in
            let begun = try await bench.shown().count
            let handle = try await bench.begin(texts(String(repeating: "long ", count: 20_000)))
            let count = try await bench.shown().count - begun
            try expect(count < 8192, "less than 8192 characters, got \(count)")
            try await bench.act(.cancel, until: .cancel(handle))
        },
        PromptCheck(
            "Unknown details and kinds are ignored",
            .prompt("Begin", "Unknown keys are ignored.")
        ) { bench in
            let handle = try await bench.begin([
                "colour": .string("red"), "many": .strings(["a"]), "": .uint32(1),
            ])
            try await bench.update(handle, "dance", ["steps": .uint32(3)])
            try await bench.type(secret, in: handle)
        },
        PromptCheck("Wrongly typed or missing details are refused or ignored", .goesOn) { bench in
            let keys = [
                "reason", "stage", "policy", "sandbox-id", "fallback-title", "pid", "sensors",
                "passcode-key",
            ]
            for key in keys {
                for value: Variant in [.double(1), .strings(["a"]), .bool(true)] {
                    try? await close(bench, bench.begin([key: value]))
                }
            }
            try await expectGoesOn(bench)
            let handle = try await bench.begin()
            for (kind, _) in hostileEvents("") {
                try? await bench.update(handle, kind)
                let detail = ["attempts-left": Variant.string("2"), "hint": .uint32(1)]
                try? await bench.update(handle, kind, detail)
            }
            try await bench.finish(handle)
            try await expectGoesOn(bench)
        },
        PromptCheck("An unknown stage is refused, or takes no password", .goesOn) {
            bench in
            if let handle = try? await bench.begin(["stage": .string("dance")]) {
                try await bench.actInVain(.type("early"))
                try await bench.finish(handle)
            }
            try await expectGoesOn(bench)
        },
        PromptCheck("Wrong or missing arguments are answered with an error", .goesOn) { bench in
            let agent = try bench.service.proxy()
            for member in ["Begin", "Update", "End", "Dance"] {
                for signature in ["", "s", "asas"] {
                    try await expectRefusal("\(member)(\(signature))") {
                        try await bench.service.connection.callWrongly(
                            agent.destination,
                            agent.path,
                            ("org.localauth.Agent1", member),
                            signature,
                            within: bench.limit
                        )
                    }
                }
            }
            try await expectGoesOn(bench)
        },
        PromptCheck("Calls about an unknown prompt have no effect", .goesOn) { bench in
            let handle = try await bench.begin()
            for other in ["", "none", handle + "0", String(repeating: "x", count: 10_000)] {
                try? await bench.update(other, "success")
                try? await bench.finish(other)
            }
            try await bench.type(secret, in: handle)
        },
        PromptCheck("A handle that is in use begins no second prompt", .goesOn) { bench in
            let handle = try await bench.begin()
            let proxy = try bench.service.proxy()
            try await expectRefusal("Begin") {
                try await proxy.begin(
                    prompt: handle,
                    details: bench.details,
                    timeout: bench.limit
                )
            }
            try await bench.type(secret, in: handle)
        },
        PromptCheck("After a thousand events the prompt still takes the end", .goesOn) {
            bench in
            let handle = try await bench.beginLooking(policy: 2)
            let proxy = try bench.service.proxy()
            for number in 0..<1000 {
                let detail = ["hint": Variant.string("move-closer"), "n": .uint32(UInt32(number))]
                proxy.sendUpdate(prompt: handle, kind: "hint", detail: detail)
            }
            // Tests that run many programs at once set a longer limit.
            let limit = max(.seconds(30), bench.fixture.patience * 5)
            try await proxy.end(prompt: handle, outcome: "system", timeout: limit)
            try await expectGoesOn(bench)
        },
        PromptCheck("Every call of another caller is refused", .ownerOnly) { bench in
            let handle = try await bench.begin()
            let neighbour = try bench.bus.connect()
            let agent = try bench.service.proxy()
            let proxy = Agent1Proxy(neighbour, destination: agent.destination, path: agent.path)
            try await expectError(.accessDenied, of: "another caller's Begin") {
                try await proxy.begin(prompt: "1", details: bench.details, timeout: bench.limit)
            }
            try await expectError(.accessDenied, of: "another caller's Update") {
                let kind = "confirmation-required"
                try await proxy.update(
                    prompt: handle,
                    kind: kind,
                    detail: [:],
                    timeout: bench.limit
                )
            }
            try await expectError(.accessDenied, of: "another caller's End") {
                try await proxy.end(prompt: handle, outcome: "success", timeout: bench.limit)
            }
            try await bench.type(secret, in: handle)
        },
    ]

    /// All text details of Begin, with this value.
    private static func texts(_ text: String) -> [String: Variant] {
        let keys = [
            "app-name", "app-icon", "app-id", "sandbox-id", "user", "cancel-title",
            "parent-window", "fallback-title", "activation-token", "reason", "requester",
        ]
        var details = Dictionary(uniqueKeysWithValues: keys.map { ($0, Variant.string(text)) })
        details["sensors"] = .strings([text, text])
        details["sandboxed"] = .bool(true)
        return details
    }

    /// All events with a text, with this value.
    private static func hostileEvents(_ text: String) -> [(String, [String: Variant])] {
        let text = Variant.string(text)
        return [
            ("sensor-ready", ["sensor": text, "biometry-type": .uint32(.max)]),
            ("sensor-busy", ["sensor": text, "by": text]), ("hint", ["hint": text]),
            ("no-match", ["attempts-left": .uint32(.max)]), ("fallback-available", [:]),
            ("passcode-required", ["cause": text]),
            ("passcode-required", ["cause": .string("remote"), "text": text]),
            ("passcode-rejected", ["attempts-left": .uint32(.max)]),
        ]
    }

    @BusActor private static func close(_ bench: PromptBench, _ handle: String) async throws {
        try await bench.finish(handle)
    }

    /// Throws a failure unless a prompt can still ask for a password.
    @BusActor static func expectGoesOn(_ bench: PromptBench) async throws {
        let handle = try await bench.begin()
        try await bench.type(secret, in: handle)
        try await bench.finish(handle)
    }
}

#if Prompt
import DBus
import TestSupport
import Testing

@Suite("The layout of the prompt", .serialized, .timeLimit(.minutes(10)))
struct PromptLayoutTests {
    private static let widest = 452
    private static let sensor: [String: Variant] = [
        "sensor": .string("Reader"), "biometry-type": .uint32(1),
    ]
    /// Long words, wide letters, combining marks and no-break spaces.
    private static let texts = [
        "W", "漢", "\u{FDFD}", "a\u{30D}\u{30D}", "a\u{A0}", "ab ",
    ]

    @Test(
        "L33: no text widens the window or hides the caller's origin",
        arguments: texts
    )
    func width(_ letter: String) async throws {
        try await Self.run { screen, service, reader in
            let text = { (count: Int) in Variant.string(String(repeating: letter, count: count)) }
            let handle = try await service.begin([
                "sandboxed": .bool(true), "sandbox-id": .string("org.example.Vault"),
                "app-name": text(64), "requester": text(64), "pid": .uint32(4711),
                "user": text(32), "reason": text(256), "policy": .uint32(2),
                "stage": .string("biometry"), "cancel-title": text(64),
                "fallback-title": text(64),
                "biometry-types": .array(element: .uint32, [.uint32(1)]),
            ])
            try await service.update(handle, "sensor-ready", Self.sensor)
            try await service.update(handle, "no-match", ["attempts-left": .uint32(2)])
            try await service.update(handle, "fallback-available", [:])
            _ = try await reader.wait(for: "status", "Not recognized. 2 attempts are left.")
            try await eventually("an origin in a window of at most \(Self.widest) points") {
                let origin = try await reader.elements()
                    .first { $0.name.hasPrefix("Sandboxed app org.example.Vault") }
                guard let origin else { return false }
                return try await reader.size(of: origin).height > 10
            }
            #expect(try await screen.windowSize().width <= Self.widest)
        }
    }

    @Test("Text twice as large does not widen the window or cut off titles")
    func largeText() async throws {
        try await Self.run(textScale: 2) { screen, service, reader in
            let handle = try await service.begin([
                "sandboxed": .bool(true), "sandbox-id": .string("org.example.Vault"),
                "app-name": .string("Vault"), "pid": .uint32(4711), "user": .string("jo"),
                "reason": .string("open the vault"), "policy": .uint32(2),
                "stage": .string("biometry"),
                "biometry-types": .array(element: .uint32, [.uint32(1)]),
            ])
            try await service.update(handle, "no-match", ["attempts-left": .uint32(2)])
            try await service.update(handle, "fallback-available", [:])
            let cancel = try await reader.wait(for: "button", "Cancel")
            let fallback = try await reader.wait(for: "button", "Use Another Way")
            #expect(try await screen.windowSize().width <= Self.widest)
            // Stacked buttons have the full width.
            let sizes = [
                try await reader.size(of: cancel), try await reader.size(of: fallback),
            ]
            #expect(sizes.allSatisfy { $0.width > 300 }, "\(sizes)")
        }
    }

    @Test("The button needs a password, and the sensors stay usable after a miss")
    func button() async throws {
        try await Self.run { screen, service, reader in
            let handle = try await service.begin([
                "sandboxed": .bool(true), "pid": .uint32(4711), "user": .string("jo"),
                "reason": .string("open the vault"), "policy": .uint32(2),
                "stage": .string("biometry"),
                "biometry-types": .array(element: .uint32, [.uint32(1)]),
            ])
            try await service.update(handle, "no-match", ["attempts-left": .uint32(2)])
            _ = try await reader.wait(for: "status", "Not recognized. 2 attempts are left.")
            let words = "Touch the fingerprint sensor or enter your password."
            #expect(try await reader.labels().contains(words))
            // A sandboxed app without an id is unusual, which the icon shows.
            _ = try await reader.wait(for: "image", "Warning")
            try await eventually("a field that takes keys", within: .seconds(60)) {
                guard let field = try await reader.find("text box") else { return false }
                return field.has(.editable) && field.has(.focused)
            }
            #expect(try await reader.find("button", "Authenticate")?.has(.sensitive) == false)
            try await screen.type("a")
            try await eventually("a button that can be pressed", within: .seconds(60)) {
                try await reader.find("button", "Authenticate")?.has(.sensitive) == true
            }
            try await screen.press("BackSpace")
            try await eventually("a button that cannot be pressed", within: .seconds(60)) {
                try await reader.find("button", "Authenticate")?.has(.sensitive) == false
            }
        }
    }

    @Test("A password of 511 bytes is accepted, and a longer password is visibly refused")
    func longest() async throws {
        try await Self.run { screen, service, reader in
            try await Self.askForPassword(service, reader)
            let password = String(repeating: "ab", count: 255) + "c"
            try await screen.type(password)
            try await eventually("all of it", within: .seconds(60)) {
                try await reader.texts().contains { $0.count == password.count }
            }
            let words = "The password cannot be longer."
            #expect(try await reader.find("status", words) == nil)
            try await screen.type("d")
            _ = try await reader.wait(for: "status", words)
            try await screen.press("Return")
            #expect(await service.nextAnswer() == .passcode(Array(password.utf8)))
        }
    }

    @Test("A letter being composed is not drawn, and joins the password")
    func composing() async throws {
        try await Self.run { screen, service, reader in
            for (number, key) in ["dead_acute", "Multi_key"].enumerated() {
                try await screen.run("/usr/bin/xmodmap", "-e", "keycode \(248 + number) = \(key)")
            }
            try await Self.askForPassword(service, reader)
            let window = try #require(try await screen.window("class", "localauth-agent"))
            let picture = "import -window \(window) png:- | identify -format '%#' -"
            // Move the pointer away: the first key would change the colour below it.
            try await screen.run("/usr/bin/xdotool", "mousemove", "0", "0")
            var before = ""
            try await eventually("a window that stays as it is", within: .seconds(60)) {
                before = try await screen.run("/bin/sh", "-c", picture)
                await pause(.seconds(1))
                return try await screen.run("/bin/sh", "-c", picture) == before
            }
            #expect(before.count == 64)
            for keys in [["dead_acute"], ["Multi_key", "slash"]] {
                for key in keys {
                    try await screen.press(key)
                    // Time for the window to draw.
                    await pause(.milliseconds(500))
                    #expect(try await screen.run("/bin/sh", "-c", picture) == before, "\(key)")
                }
                try await screen.press("o")
                try await eventually("one letter", within: .seconds(60)) {
                    try await reader.texts().contains { $0.count == 1 }
                }
                guard keys.count == 1 else { break }
                try await screen.press("BackSpace")
                try await eventually("an empty field", within: .seconds(60)) {
                    try await reader.texts() == [""]
                }
            }
            try await screen.press("Return")
            #expect(await service.nextAnswer() == .passcode(Array("ø".utf8)))
        }
    }

    /// Starts a prompt for a password, and waits until its field accepts keys.
    @BusActor
    private static func askForPassword(
        _ service: StandInService,
        _ reader: ScreenReader
    ) async throws {
        _ = try await service.begin([
            "sandboxed": .bool(true), "pid": .uint32(4711), "user": .string("jo"),
            "reason": .string("open the vault"), "policy": .uint32(2),
            "stage": .string("passcode"),
        ])
        try await eventually("a field that takes keys", within: .seconds(60)) {
            guard let field = try await reader.find("text box") else { return false }
            return field.has(.editable) && field.has(.focused)
        }
    }

    private static func run(
        textScale: Int = 1,
        _ body: @escaping @BusActor (Screen, StandInService, ScreenReader) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            try Pictures.still(bus)
            let screen = try await Screen(on: bus)
            do {
                if textScale != 1 { try await screen.scaleText(by: textScale) }
                let service = try StandInService(bus)
                try await screen.startAgent([:])
                let reader = try await ScreenReader(on: screen)
                defer { reader.connection.close() }
                try await body(screen, service, reader)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }
}
#endif

#if Prompt
import DBus
import TestSupport
import Testing

@Suite("Pictures of the windows", .serialized, .timeLimit(.minutes(10)))
struct PictureTests {
    /// The details of a prompt, and the events that follow.
    struct State: Sendable, CustomTestStringConvertible {
        let name: String
        var details: [String: Variant] = [:]
        var events: [(kind: String, detail: [String: Variant])] = []
        var variables: [String: String] = [:]
        var language: String?
        var textScale = 1
        /// True if the caller is a real program outside sandboxes.
        var isOfProgram = false
        /// True if the caller's details are open; they contain numbers that vary.
        var isOpen = false
        /// False to test with animations, which must lead to an equal picture.
        var isStill = true

        var testDescription: String { isStill ? name : name + ", animated" }
    }

    private static let sensor: [String: Variant] = [
        "sensor": .string("Reader"), "biometry-type": .uint32(1),
    ]
    private static let ready = ("sensor-ready", sensor)
    private static let both: [String: Variant] = ["policy": .uint32(2)]
    private static let long = Array(repeating: "open what is kept in a very safe place", count: 12)
        .joined(separator: ", ")
    private static let states = [
        State(name: "fingerprint", events: [ready]),
        State(name: "passcode", details: both, events: [ready], isOfProgram: true),
        State(name: "details", details: both, events: [ready], isOfProgram: true, isOpen: true),
        State(
            name: "dark",
            details: both,
            events: [ready],
            variables: ["ADW_DEBUG_COLOR_SCHEME": "prefer-dark"],
            isOfProgram: true
        ),
        State(name: "unusual", details: ["sandbox-id": .string(""), "requester": .string("Bank")]),
        State(
            name: "contrast",
            details: ["policy": .uint32(2)],
            events: [ready],
            variables: ["ADW_DEBUG_HIGH_CONTRAST": "1"]
        ),
        State(name: "german", details: both, events: [ready], language: "de"),
        State(name: "chinese", details: both, events: [ready], language: "zh_CN"),
        State(
            name: "right-to-left",
            details: ["policy": .uint32(2), "reason": .string("לפתוח את הכספת")],
            events: [ready],
            language: "he_IL"
        ),
        State(
            name: "large-text",
            details: ["policy": .uint32(2), "reason": .string(long)],
            events: [ready],
            textScale: 2
        ),
        State(name: "long", details: ["reason": .string(long)], events: [ready]),
        State(
            name: "no-match",
            events: [
                ready, ("no-match", ["attempts-left": .uint32(2)]), ("fallback-available", [:]),
            ]
        ),
        State(
            name: "no-match",
            events: [
                ready, ("no-match", ["attempts-left": .uint32(2)]), ("fallback-available", [:]),
            ],
            isStill: false
        ),
        State(
            name: "confirmation",
            details: ["biometry-types": .array(element: .uint32, [.uint32(2)])],
            events: [("confirmation-required", [:])]
        ),
        State(
            name: "application-password",
            details: ["stage": .string("application-password")]
        ),
        State(name: "success", events: [ready, ("success", [:])]),
        State(
            name: "lockout",
            details: ["policy": .uint32(2)],
            events: [ready, ("passcode-required", ["cause": .string("lockout")])]
        ),
    ]

    @Test(
        "A prompt matches its picture",
        .enabled("drawn with other versions of GTK or of the fonts") {
            try await Pictures.areComparable()
        },
        arguments: states
    )
    func prompt(_ state: State) async throws {
        try await PrivateBus.run { bus in
            if state.isStill { try Pictures.still(bus) }
            let screen = try await Screen(on: bus, size: (2000, 1800))
            do {
                try await Self.show(state, on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func show(_ state: State, on screen: Screen) async throws {
        var variables = state.variables
        if state.language == "he_IL" {
            variables = try await Pictures.rightToLeft(screen.bus)
        } else if let language = state.language {
            variables = try await Pictures.language(language, screen.bus)
        }
        if state.textScale != 1 { try await screen.scaleText(by: state.textScale) }
        variables["GDK_SCALE"] = "2"
        let service = try StandInService(screen.bus)
        try await screen.startAgent(variables)
        var details: [String: Variant] = [
            "sandboxed": .bool(true), "sandbox-id": .string("org.example.Vault"),
            "app-name": .string("Vault"), "pid": .uint32(4711),
            "user": .string("jo"), "reason": .string("open the vault"), "policy": .uint32(1),
            "stage": .string("biometry"), "biometry-types": .array(element: .uint32, [.uint32(1)]),
        ]
        if state.isOfProgram {
            let app = try screen.bus.start(
                ["/usr/bin/display-im6.q16", "logo:"],
                environment: screen.environment
            )
            try await eventually("a window of the app", within: .seconds(60)) {
                try await screen.window("class", "display") != nil
            }
            details["sandboxed"] = .bool(false)
            details["pid"] = .uint32(UInt32(app.pid))
        }
        let handle = try await service.begin(details.merging(state.details) { $1 })
        for (kind, detail) in state.events { try await service.update(handle, kind, detail) }
        guard state.isOpen else { return try await Pictures.compare(state.name, on: screen) }
        let reader = try await ScreenReader(on: screen)
        defer { reader.connection.close() }
        try await eventually("a prompt that takes keys", within: .seconds(60)) {
            try await reader.find("button", "Cancel")?.has(.sensitive) == true
        }
        try await screen.press("alt+d")
        try await reader.waitForLabel(ending: "Any program of yours can start this program.")
        if Pictures.isDrawing { try await Pictures.compare(state.name, on: screen) }
    }

    @Test(
        "The settings match their picture",
        .enabled("drawn with other versions of GTK or of the fonts") {
            try await Pictures.areComparable()
        }
    )
    func settings() async throws {
        try await Stage.run(size: (2000, 1800)) { stage in
            try Pictures.still(stage.screen.bus)
            let (_, reader) = try await stage.screen.startSettings(["GDK_SCALE": "2"])
            _ = try await reader.wait(for: "button", "Remove “right index”")
            // Crop the problems below, which depend on this machine.
            try await Pictures.compare("settings", on: stage.screen, height: 624)
        }
    }
}
#endif

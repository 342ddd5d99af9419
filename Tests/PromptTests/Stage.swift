#if Prompt
import DBus
import LocalAuthBus
import TestSupport

/// All programs on a screen: the daemon with an enrolled finger, the verifier and the agent.
@BusActor final class Stage {
    let screen: Screen
    let reader: ScreenReader
    let daemon: TestDaemon
    let agent: ChildProcess

    private init(
        on bus: PrivateBus,
        _ variables: [String: String],
        compositor: Screen.Compositor?,
        size: (width: Int, height: Int),
        textScale: Int
    ) async throws {
        screen = try await Screen(on: bus, compositor: compositor, size: size)
        if textScale != 1 { try await screen.scaleText(by: textScale) }
        daemon = try await TestDaemon(on: bus)
        try await bus.startVerifier()
        try await daemon.startSensor()
        agent = try await screen.startAgent(variables)
        reader = try await ScreenReader(on: screen)
    }

    /// Runs a test on a new stage, which ends afterwards in any case.
    nonisolated static func run(
        _ variables: [String: String] = [:],
        compositor: Screen.Compositor? = nil,
        size: (width: Int, height: Int) = (1000, 900),
        textScale: Int = 1,
        _ body: @escaping @BusActor (Stage) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let stage = try await Stage(
                on: bus,
                variables,
                compositor: compositor,
                size: size,
                textScale: textScale
            )
            defer { stage.reader.connection.close() }
            do {
                try await body(stage)
            } catch {
                await stage.screen.end()
                throw error
            }
            await stage.screen.end()
        }
    }

    func startSettings() async throws -> (ChildProcess, ScreenReader) {
        try await screen.startSettings()
    }

    func evaluate(
        _ policy: UInt32,
        _ reason: String,
        _ options: [String: Variant] = [:],
        on connection: Connection? = nil
    ) -> Task<[String: Variant], any Error> {
        let manager = connection.map { daemon.manager($0) } ?? daemon.manager
        return Task { @BusActor in
            try await manager.evaluate(policy: policy, reason: reason, options: options)
        }
    }

    func waitUntilTyping() async throws {
        try await eventually("a field that takes keys in \(reader.seen)", within: .seconds(60)) {
            try await self.isTyping()
        }
    }

    func isTyping() async throws -> Bool {
        guard try await reader.isActive(), let field = try await reader.find("text box")
        else { return false }
        return field.has(.editable) && field.has(.focused)
    }

    func waitUntilSettled() async throws {
        try await eventually("a prompt that takes keys in \(reader.seen)", within: .seconds(60)) {
            // The window ignores keys again after it becomes active. In sway it does not become
            // active.
            if self.screen.compositor == nil {
                guard try await self.reader.isActive() else { return false }
            }
            return try await self.reader.find("button", "Cancel")?.has(.sensitive) == true
        }
    }
}
#endif

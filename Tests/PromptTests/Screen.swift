#if Prompt
import DBus
import Glibc
import TestSupport

/// A display without a screen, with a window manager and what screen readers need, on a bus of a
/// session; everything on it ends with the bus.
@BusActor final class Screen {
    let bus: PrivateBus
    /// As X clients name it.
    let display: String
    private let server: ChildProcess
    private var accessibility: ChildProcess?

    /// Starts it, and waits until each part is ready.
    init(on bus: PrivateBus, size: String = "1000x900x24") async throws {
        self.bus = bus
        server = try ChildProcess(
            [
                "/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp",
                "-noreset", "-ac",
            ],
            hasStream: true
        )
        // It says its number when it listens.
        guard let number = try server.line(), Int(number) != nil else {
            throw TestFailure("Xvfb did not start: \(server.errors)")
        }
        display = ":\(number)"
        try bus.run(["/usr/bin/openbox", "--sm-disable"], environment: environment)
        accessibility = try bus.run(
            ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"],
            environment: environment
        )
        try await bus.waitForOwner(of: "org.a11y.Bus", within: .seconds(60))
        try await eventually("a window manager", within: .seconds(60)) {
            try await self.run("/usr/bin/xprop", "-root", "_NET_SUPPORTING_WM_CHECK")
                .contains("window id")
        }
    }

    /// Asks what has a bus of its own to end that bus; the other parts end with the test's.
    func end() async {
        accessibility?.signal(SIGTERM)
        _ = try? await accessibility?.exitStatus()
    }

    /// What programs on it need to know.
    var environment: [String: String] {
        [
            "DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": bus.address, "GDK_BACKEND": "x11",
            "WAYLAND_DISPLAY": "", "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": bus.folder,
            "HOME": bus.folder, "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "0",
        ]
    }

    /// Runs a tool to its end.
    /// - Returns: what it wrote.
    @discardableResult func run(_ words: String...) async throws -> String {
        try await ChildProcess(words, environment: environment).ended(within: .seconds(60)).output
    }

    /// Types on the keyboard, whatever window has it.
    func type(_ text: String) async throws {
        try await run("/usr/bin/xdotool", "type", "--delay", "5", text)
    }

    /// Presses a key by its name.
    func press(_ key: String) async throws { try await run("/usr/bin/xdotool", "key", key) }

    /// Starts the agent under test.
    @discardableResult
    func startAgent(
        _ variables: [String: String] = [:],
        launcher: [String] = []
    ) async throws -> ChildProcess {
        let agent = try bus.start(
            launcher + [ChildProcess.folder + "/localauth-agent", "--resident"],
            environment: environment.merging(variables) { $1 }
        )
        try await eventually("the agent to be registered", within: .seconds(60)) {
            try expect(agent.isRunning, "the agent ended: \(agent.errors)")
            return agent.errors.contains("serves session")
        }
        return agent
    }
}
#endif

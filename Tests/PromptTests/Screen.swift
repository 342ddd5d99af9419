#if Prompt
import DBus
import Glibc
import TestSupport

/// A virtual display with a window manager and the accessibility bus, on a session bus.
///
/// All its programs end with the bus.
@BusActor final class Screen {
    /// A Wayland compositor in a window that fills the display.
    enum Compositor {
        case weston
        /// Supports windows and clicks of other programs (xdg-foreign, xdg-activation).
        case sway
    }

    let bus: PrivateBus
    /// The display's name for X clients.
    let display: String
    let compositor: Compositor?
    private let size: (width: Int, height: Int)
    private let server: ChildProcess
    private var manager: ChildProcess?
    private(set) var composes: ChildProcess?
    private var accessibility: ChildProcess?
    /// The number of desktops; Openbox starts with four.
    private var desktops = 4

    /// Starts the display, and waits until every part is ready.
    init(
        on bus: PrivateBus,
        compositor: Compositor? = nil,
        size: (width: Int, height: Int) = (1000, 900)
    ) async throws {
        self.bus = bus
        self.compositor = compositor
        self.size = size
        server = try ChildProcess(
            [
                "/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0",
                "\(size.width)x\(size.height)x24", "-nolisten", "tcp", "-noreset", "-ac",
            ],
            hasStream: true
        )
        // Xvfb prints its number when it accepts connections.
        guard let number = try server.line(), Int(number) != nil else {
            throw TestFailure("Xvfb did not start: \(server.errors)")
        }
        display = ":\(number)"
        let words = ["/usr/bin/openbox", "--sm-disable", "--debug"]
        manager = try bus.run(words, environment: environment)
        accessibility = try bus.run(
            ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"],
            environment: environment
        )
        try await bus.waitForOwner(of: "org.a11y.Bus", within: .seconds(60))
        try await eventually("a window manager", within: .seconds(60)) {
            try await self.run("/usr/bin/xprop", "-root", "_NET_SUPPORTING_WM_CHECK")
                .contains("window id")
        }
        switch compositor {
        case .weston: try await startWeston()
        case .sway: try await startSway()
        case nil: break
        }
    }

    // Use a separate folder: a compositor that refuses to run as root has to own it.
    private var waylandFolder: String { bus.folder + "/wayland" }
    // The first name that compositors choose.
    private var socket: String { waylandFolder + "/wayland-1" }

    private func startWeston() async throws {
        mkdir(waylandFolder, 0o700)
        let words = [
            "/usr/bin/weston", "--backend=x11-backend.so", "--socket=wayland-1",
            "--width=\(size.width - 100)", "--height=\(size.height - 100)", "--idle-time=0",
            "--use-pixman", "--no-config",
        ]
        composes = try bus.run(words, environment: compositorEnvironment)
        try await waitForCompositor("Weston")
    }

    /// Starts sway, in which a new window gets the focus only by a token.
    private func startSway() async throws {
        let nobody: uid_t = 65534
        mkdir(waylandFolder, 0o700)
        let file = bus.folder + "/sway.conf"
        let lines = [
            "xwayland disable", "focus_on_window_activation focus",
            "no_focus [app_id=\"localauth-agent\"]", "",
        ]
        try TemporaryFolder.write(file, lines.joined(separator: "\n").utf8)
        var words = ["/usr/bin/sway", "--config", file]
        if getuid() == 0 {
            try expect(chown(waylandFolder, nobody, nobody) == 0, "chown: \(errno)")
            words =
                [
                    "/usr/bin/setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                ] + words
        }
        let variables = ["WLR_BACKENDS": "x11", "WLR_RENDERER": "pixman"]
        composes = try bus.run(words, environment: compositorEnvironment.merging(variables) { $1 })
        try await waitForCompositor("wlroots")
    }

    private var compositorEnvironment: [String: String] {
        environment.merging(["XDG_RUNTIME_DIR": waylandFolder, "HOME": waylandFolder]) { $1 }
    }

    /// Waits for the compositor's window and focuses it, so that it receives the display's keys.
    private func waitForCompositor(_ title: String) async throws {
        try await eventually("a compositor with a window", within: .seconds(60)) {
            guard access(self.socket, F_OK) == 0 else { return false }
            // xdotool searches by older properties, which wlroots does not set.
            let tree = try await self.run("/usr/bin/xwininfo", "-root", "-tree", "-int")
            let line = tree.split(separator: "\n").first { $0.contains("\"\(title)") }
            guard let window = line?.split(separator: " ").first.map(String.init)
            else { return false }
            // Map and focus the window: a window manager that has just started may have missed it.
            try await self.run("/usr/bin/xdotool", "windowmap", window, "windowfocus", window)
            let focused = try await self.run("/usr/bin/xdotool", "getwindowfocus")
            return focused.split(separator: "\n").first.map(String.init) == window
        }
    }

    /// Ends the accessibility bus, which has a bus of its own; other programs end with the test's
    /// bus.
    func end() async {
        accessibility?.signal(SIGTERM)
        _ = try? await accessibility?.exitStatus()
    }

    var environment: [String: String] {
        [
            "DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": bus.address,
            "GDK_BACKEND": compositor == nil ? "x11" : "wayland",
            "WAYLAND_DISPLAY": compositor == nil ? "" : socket,
            "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": bus.folder, "SWAYSOCK": waylandFolder + "/sway",
            "HOME": bus.folder, "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "0",
        ]
    }

    var windowsSoFar: Int { managed.count { $0.contains("Managed window 0x") } }

    /// The titles of all windows that have appeared, as they were at that time.
    var titlesSoFar: [String] {
        managed.compactMap { line in
            guard line.contains("Window name: ") else { return nil }
            return line.firstRange(of: " title: ").map { String(line[$0.upperBound...]) }
        }
    }

    /// The log of the window manager.
    ///
    /// Unlike polling, it misses no window.
    private var managed: [Substring] { manager?.output.split(separator: "\n") ?? [] }

    /// Stops or continues the window manager; a new window stays invisible while it is stopped.
    func holdWindows(_ isHeld: Bool) { manager?.signal(isHeld ? SIGSTOP : SIGCONT) }

    /// Waits until the window manager has handled all closed windows.
    ///
    /// A later window may get the number of a closed window. On a busy machine Openbox would hide
    /// it when it handles the old window's end. Openbox handles requests in order, so an answer
    /// proves that it is done.
    func waitForManager() async throws {
        desktops = desktops == 4 ? 5 : 4
        try await run("/usr/bin/xdotool", "set_num_desktops", "\(desktops)")
        try await eventually("an answer of the window manager", within: .seconds(60)) {
            try await run("/usr/bin/xdotool", "get_num_desktops") == "\(desktops)\n"
        }
    }

    /// Runs a tool to its end and returns its output.
    @discardableResult func run(_ words: String...) async throws -> String {
        try await ChildProcess(words, environment: environment).ended(within: .seconds(60)).output
    }

    /// Returns the number of the first visible window that matches a pattern, or nil.
    func window(_ kind: String, _ pattern: String) async throws -> String? {
        try await run("/usr/bin/xdotool", "search", "--onlyvisible", "--" + kind, pattern)
            .split(separator: "\n").first.map(String.init)
    }

    func windowSize() async throws -> (width: Int, height: Int) {
        guard let window = try await window("class", "localauth-agent") else {
            throw TestFailure("there is no prompt")
        }
        let lines = try await run("/usr/bin/xdotool", "getwindowgeometry", "--shell", window)
            .split(separator: "\n")
        let value = { (name: String) in
            lines.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        guard let width = value("WIDTH"), let height = value("HEIGHT") else {
            throw TestFailure("xdotool said \(lines)")
        }
        return (width, height)
    }

    /// Describes the focused window, all windows and the last log of the window manager, for
    /// messages.
    func focus() async throws -> String {
        let focus = try await run("/usr/bin/xdotool", "getwindowfocus", "getwindowname")
        let windows = try await run("/usr/bin/xwininfo", "-root", "-tree")
        return "focus: \(focus)\(windows)\(managed.suffix(20).joined(separator: "\n"))"
    }

    func type(_ text: String) async throws {
        try await run("/usr/bin/xdotool", "type", "--delay", "5", text)
    }

    func press(_ key: String) async throws { try await run("/usr/bin/xdotool", "key", key) }

    /// Scales the text of programs that start later.
    func scaleText(by factor: Int) async throws {
        let resource = "RESOURCE_MANAGER"
        let dots = "Xft.dpi:\t\(96 * factor)\n"
        try await run("/usr/bin/xprop", "-root", "-f", resource, "8s", "-set", resource, dots)
    }

    /// Starts an app that receives keys, and returns its window's number.
    func startApp() async throws -> String {
        try bus.run(["/usr/bin/xev", "-event", "keyboard"], environment: environment)
        var app: String?
        try await eventually("another window", within: .seconds(60)) {
            app = try await window("name", "Event Tester")
            return app != nil
        }
        guard let app else { throw TestFailure("there is no other window") }
        return app
    }

    func startSettings(
        _ variables: [String: String] = [:]
    ) async throws -> (ChildProcess, ScreenReader) {
        let program = try bus.start(
            ["localauth-settings"],
            environment: environment.merging(variables) { $1 }
        )
        let reader = try await ScreenReader(on: self, program: "localauth-settings")
        _ = try await reader.wait(for: "button", "Check again")
        return (program, reader)
    }

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

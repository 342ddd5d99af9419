#if Prompt
import DBus
import Foundation
import TestSupport

/// Another program's window under sway, which prints its handle, and a token for each key.
@BusActor final class WaylandApp {
    private static let code = """
        import gi
        gi.require_version("Gtk", "4.0")
        gi.require_version("GdkWayland", "4.0")
        from gi.repository import Gdk, GdkWayland, Gio, GLib, Gtk
        GLib.set_prgname("app")
        Gtk.init()
        window = Gtk.Window()
        keys = Gtk.EventControllerKey()
        def pressed(*_):
            program = Gio.AppInfo.create_from_commandline("app", "app", 0)
            context = window.get_display().get_app_launch_context()
            print("token", context.get_startup_notify_id(program, []), flush=True)
        keys.connect("key-pressed", pressed)
        window.add_controller(keys)
        window.present()
        window.get_surface().export_handle(lambda _, handle: print("handle", handle, flush=True))
        GLib.MainLoop().run()
        """

    private let screen: Screen
    private let program: ChildProcess

    init(on screen: Screen) async throws {
        self.screen = screen
        program = try screen.bus.run(
            ["/usr/bin/python3", "-c", Self.code],
            environment: screen.environment.merging(["GSK_RENDERER": "cairo"]) { $1 }
        )
        try await eventually("the app's window", within: .seconds(60)) {
            try await screen.swayWindow("app") != nil
        }
    }

    /// The handle with which other programs refer to the window.
    var handle: String {
        get async throws { try await said("handle") }
    }

    /// Returns a token that lets another window take the focus.
    func token() async throws -> String {
        try await screen.press("space")
        return try await said("token")
    }

    private func said(_ word: String) async throws -> String {
        var found: Substring?
        try await eventually("a \(word) of the app's", within: .seconds(60)) {
            try expect(self.program.isRunning, "the app ended: \(self.program.errors)")
            let lines = self.program.output.split(separator: "\n")
            found = lines.first { $0.hasPrefix(word + " ") }
            return found != nil
        }
        return String(found?.dropFirst(word.count + 1) ?? "")
    }
}

extension Screen {
    struct SwayWindow {
        let isVisible: Bool
        let isFocused: Bool
    }

    func sway(_ command: String) async throws {
        let answer = try await run("/usr/bin/swaymsg", command)
        try expect(!answer.contains("Error"), "sway: \(answer)")
    }

    /// Returns the window of a program, or nil.
    func swayWindow(_ program: String) async throws -> SwayWindow? {
        let tree = try await run("/usr/bin/swaymsg", "-r", "-t", "get_tree")
        return Self.window(program, in: try JSONSerialization.jsonObject(with: Data(tree.utf8)))
    }

    private static func window(_ program: String, in node: Any) -> SwayWindow? {
        guard let node = node as? [String: Any] else { return nil }
        if node["app_id"] as? String == program {
            return SwayWindow(
                isVisible: node["visible"] as? Bool ?? false,
                isFocused: node["focused"] as? Bool ?? false
            )
        }
        for key in ["nodes", "floating_nodes"] {
            for child in node[key] as? [Any] ?? [] {
                if let found = window(program, in: child) { return found }
            }
        }
        return nil
    }
}
#endif

#if Prompt
import CAdwaita
package import DBus
import Glibc

/// The display server; hides differences between X11 and Wayland.
@BusActor package enum Display {
    /// Connects to the display server and applies a style; returns false without a display server.
    ///
    /// Windows are drawn by the processor. OpenGL would slow the start and need three times the
    /// memory of the rest of this process, which a small window does not justify.
    package static func open(for program: String, style: [UInt8]) -> Bool {
        setenv("GSK_RENDERER", "cairo", 0)
        setenv("GDK_DEBUG", "gl-disable,vulkan-disable", 0)
        g_set_prgname(program)
        g_set_application_name("LocalAuthentication")
        guard gtk_init_check() != 0 else { return false }
        adw_init()
        let provider = gtk_css_provider_new()
        style.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                gtk_css_provider_load_from_data(provider, $0.baseAddress, gssize($0.count))
            }
        }
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(),
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        return true
    }

    package static var isX11: Bool { isX11(gdk_display_get_default()) }

    /// The height of the lowest monitor, in window points; nil without a monitor.
    ///
    /// The display server may place a window on any monitor, and does not announce which.
    package static var leastHeight: Int32? {
        let monitors = gdk_display_get_monitors(gdk_display_get_default())
        return (0..<g_list_model_get_n_items(monitors)).lazy
            .compactMap { index -> Int32? in
                guard let monitor = g_list_model_get_item(monitors, index) else { return nil }
                defer { g_object_unref(monitor) }
                var area = GdkRectangle()
                gdk_monitor_get_geometry(OpaquePointer(monitor), &area)
                return area.height
            }
            .min()
    }

    /// Shows a window in front, and with the keyboard focus if the display server permits.
    package static func present(_ window: Widget) {
        gtk_window_set_modal(window.asWindow, 1)
        guard isX11, let surface = surface(of: window) else {
            return show(window)
        }
        // Without a time, the window manager may leave the window behind others and without focus.
        gtk_window_present_with_time(window.asWindow, gdk_x11_get_server_time(surface))
    }

    /// Shows a window, or ends the process if the compositor does not answer.
    ///
    /// GTK waits for an xdg-activation token without a time limit, and spins if the compositor has
    /// exited.
    package static func show(_ window: Widget) {
        signal(SIGALRM, endWithoutCompositor)
        alarm(20)
        defer { alarm(0) }
        gtk_window_present(window.asWindow)
    }

    /// Keeps a window above all others, on X11 only.
    ///
    /// X11 programs ask the window manager for it (EWMH). On Wayland only the compositor decides.
    package static func keepAbove(_ window: Widget) {
        // Wait for the map event: before that, GTK writes the states itself and lacks this state.
        window.on("map") {
            guard isX11, let surface = surface(of: window) else { return }
            let display = gdk_display_get_default()
            let server = gdk_x11_display_get_xdisplay(display)
            func atom(_ name: String) -> Atom {
                gdk_x11_get_xatom_by_name_for_display(display, name)
            }
            var request = XEvent()
            request.xclient.type = ClientMessage
            request.xclient.window = gdk_x11_surface_get_xid(surface)
            request.xclient.message_type = atom("_NET_WM_STATE")
            request.xclient.format = 32
            // Arguments: add, this state, no second state, from an application.
            request.xclient.data.l = (1, Int(atom("_NET_WM_STATE_ABOVE")), 0, 1, 0)
            let mask = SubstructureRedirectMask | SubstructureNotifyMask
            XSendEvent(server, XDefaultRootWindow(server), False, mask, &request)
        }
    }

    /// Makes an app's window the parent, given in the format of the desktop portals.
    package static func setParent(of window: Widget, _ parent: String) {
        guard let surface = surface(of: window) else { return }
        let parts = parent.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return }
        if parts[0] == "x11", isX11, let identifier = UInt(parts[1], radix: 16), identifier > 0 {
            let display = gdk_x11_display_get_xdisplay(gdk_display_get_default())
            // A parent that no longer exists causes an X error, which would end this process.
            gdk_x11_display_error_trap_push(gdk_display_get_default())
            XSetTransientForHint(display, gdk_x11_surface_get_xid(surface), identifier)
            _ = gdk_x11_display_error_trap_pop(gdk_display_get_default())
        } else if parts[0] == "wayland", !isX11 {
            gdk_wayland_toplevel_set_transient_for_exported(surface, parts[1])
            if gtk_get_minor_version() < 10 { setParentAnew(of: window, parts[1]) }
        }
    }

    /// Uses version 2 of the protocol, which KWin requires and GTK before 4.10 lacks.
    private static func setParentAnew(of window: Widget, _ handle: String) {
        var parent = foreign_parent()
        // Wait for the map event: the compositor has to know that the window is a toplevel.
        window.on("map") {
            guard let surface = surface(of: window) else { return }
            foreign_leave(parent)
            parent = foreign_take(
                gdk_wayland_display_get_wl_display(gdk_display_get_default()),
                gdk_wayland_surface_get_wl_surface(surface),
                handle
            )
        }
        window.on("unrealize") {
            foreign_leave(parent)
            parent = foreign_parent()
        }
    }

    /// Passes an activation token, which lets a window take the focus, to the display server.
    ///
    /// An X11 window manager reads the token when the window appears. A Wayland compositor consumes
    /// it and activates what is visible, so the token is passed only after the first paint.
    package static func setActivation(of window: Widget, _ token: String) {
        guard !token.isEmpty else { return }
        guard !isX11, let clock = surface(of: window).flatMap(gdk_surface_get_frame_clock) else {
            return gtk_window_set_startup_id(window.asWindow, token)
        }
        var isUsed = false
        Widget(pointer: clock)
            .on("after-paint") {
                guard !isUsed, surface(of: window).map(gdk_surface_get_mapped) == 1 else { return }
                isUsed = true
                let display = gdk_display_get_default()
                gdk_wayland_display_set_startup_notification_id(display, token)
                show(window)
            }
        window.on("unrealize") { isUsed = true }
    }

    /// Redirects all keys to a window, even if another window has the focus.
    ///
    /// X11 only, by a grab. On Wayland other windows cannot see the keys, and a compositor might
    /// ask the user first.
    /// - Returns: Whether all keys go to the window; always true on Wayland.
    package static func grabKeyboard(for window: Widget) -> Bool {
        guard isX11, let surface = surface(of: window) else { return true }
        var value = GValue()
        g_value_init(&value, GType(5 << 2))
        defer { g_value_unset(&value) }
        let object = Widget(pointer: surface).asObject
        g_object_get_property(object, "shortcuts-inhibited", &value)
        if g_value_get_boolean(&value) != 0 { return true }
        gdk_toplevel_inhibit_system_shortcuts(surface, nil)
        g_object_get_property(object, "shortcuts-inhibited", &value)
        return g_value_get_boolean(&value) != 0
    }

    package static func releaseKeyboard(of window: Widget) {
        guard isX11, let surface = surface(of: window) else { return }
        gdk_toplevel_restore_system_shortcuts(surface)
    }

    static func surface(of window: Widget) -> OpaquePointer? {
        gtk_native_get_surface(window.pointer)
    }

    private static func isX11(_ display: OpaquePointer?) -> Bool {
        display.map { Widget(pointer: $0).isA(gdk_x11_display_get_type()) } ?? false
    }
}

/// Ends the process, because none of its windows is visible.
private func endWithoutCompositor(_ signal: Int32) {
    let why: StaticString =
        "The compositor answered nothing for 20 s while a window was shown: is it still running?\n"
    _ = write(STDERR_FILENO, why.utf8Start, why.utf8CodeUnitCount)
    _exit(1)
}
#endif

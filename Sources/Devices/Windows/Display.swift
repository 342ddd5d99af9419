#if Prompt
import CAdwaita
package import DBus
import Glibc

/// The display server: what X11 and Wayland do in different ways.
@BusActor package enum Display {
    /// Connects to it, and has a program's windows follow a style; false: there is none.
    ///
    /// Pictures are drawn by the processor: a small window needs neither the start nor the memory
    /// of OpenGL, which would be three times what the rest of this process takes.
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

    /// How high the lowest monitor is, in the points of windows: one of them may get a window, and
    /// nobody says beforehand which; nil while there is none.
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

    /// Shows a window in front, with the keyboard where the display server gives it.
    package static func present(_ window: Widget) {
        gtk_window_set_modal(window.asWindow, 1)
        guard isX11, let surface = surface(of: window) else {
            return show(window)
        }
        // Without a time the window manager may leave it behind, and the keys with the others.
        gtk_window_present_with_time(window.asWindow, gdk_x11_get_server_time(surface))
    }

    /// Shows a window, or ends the process when the compositor answers nothing.
    ///
    /// Where it knows xdg-activation GTK waits for its token, also when it has gone, and then
    /// without a pause.
    package static func show(_ window: Widget) {
        signal(SIGALRM, endWithoutCompositor)
        alarm(20)
        defer { alarm(0) }
        gtk_window_present(window.asWindow)
    }

    /// Keeps a window above all others, on X11, where a program can ask the window manager for it
    /// (EWMH).
    ///
    /// On Wayland that is for the compositor alone to say.
    package static func keepAbove(_ window: Widget) {
        // Before there is a window to be seen GTK writes the states itself, and has none for this.
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
            // Add this state, and no second one; it comes from an application.
            request.xclient.data.l = (1, Int(atom("_NET_WM_STATE_ABOVE")), 0, 1, 0)
            let mask = SubstructureRedirectMask | SubstructureNotifyMask
            XSendEvent(server, XDefaultRootWindow(server), False, mask, &request)
        }
    }

    /// Ties a window to the app's, as the desktop portals write that one.
    package static func setParent(of window: Widget, _ parent: String) {
        guard let surface = surface(of: window) else { return }
        let parts = parent.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return }
        if parts[0] == "x11", isX11, let identifier = UInt(parts[1], radix: 16), identifier > 0 {
            let display = gdk_x11_display_get_xdisplay(gdk_display_get_default())
            // A window that is gone by now is an error of the server's, which would end us.
            gdk_x11_display_error_trap_push(gdk_display_get_default())
            XSetTransientForHint(display, gdk_x11_surface_get_xid(surface), identifier)
            _ = gdk_x11_display_error_trap_pop(gdk_display_get_default())
        } else if parts[0] == "wayland", !isX11 {
            gdk_wayland_toplevel_set_transient_for_exported(surface, parts[1])
            if gtk_get_minor_version() < 10 { setParentAnew(of: window, parts[1]) }
        }
    }

    /// By the second version of the protocol, which GTK doesn't know before 4.10, and KWin alone.
    private static func setParentAnew(of window: Widget, _ handle: String) {
        var parent = foreign_parent()
        // Not before the compositor knows what kind of window it is.
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

    /// Hands over what lets a window take the focus: a token of the click that led to it.
    ///
    /// A window manager of X11 reads it when the window appears, a Wayland compositor uses it up:
    /// not before there is something to be seen, which is what it activates.
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

    /// Has every key come here, whoever has the focus.
    ///
    /// On X11 alone: there it is a grab. A Wayland compositor may ask the person first, and no
    /// other window sees the keys there in any case.
    /// - Returns: whether that is so, as far as the display server does it.
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

/// Ends the process, of whose windows nobody sees any.
private func endWithoutCompositor(_ signal: Int32) {
    let why: StaticString =
        "The compositor answered nothing for 20 s while a window was shown: is it still running?\n"
    _ = write(STDERR_FILENO, why.utf8Start, why.utf8CodeUnitCount)
    _exit(1)
}
#endif

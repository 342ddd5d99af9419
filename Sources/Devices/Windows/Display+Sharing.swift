#if Prompt
import CAdwaita
import DBus

/// Lets a window of another program use this program's window as its parent, and take the focus.
extension Display {
    private final class Receiver {
        let name: @BusActor (String) -> Void

        init(_ name: @escaping @BusActor (String) -> Void) { self.name = name }

        static func at(_ address: UInt) -> Receiver? {
            // SAFETY: the export that calls holds a reference.
            UnsafeRawPointer(bitPattern: address)
                .map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Calls `name` with the parent handle for `setParent` each time the window appears.
    package static func share(_ window: Widget, _ name: @escaping @BusActor (String) -> Void) {
        window.on("map") {
            guard let surface = surface(of: window) else { return }
            guard !isX11 else {
                return name("x11:" + String(gdk_x11_surface_get_xid(surface), radix: 16))
            }
            gdk_wayland_toplevel_export_handle(
                surface,
                { _, handle, context in
                    guard let handle, let context else { return }
                    let (name, address) = (String(cString: handle), UInt(bitPattern: context))
                    BusActor.assume { Receiver.at(address)?.name("wayland:" + name) }
                },
                Unmanaged.passRetained(Receiver(name)).toOpaque(),
                { context in
                    if let context { Unmanaged<Receiver>.fromOpaque(context).release() }
                }
            )
        }
    }

    /// Returns a token of the last click or key, or nil on X11.
    ///
    /// On Wayland, another program's window takes the focus with it.
    package static func activationToken() -> String? {
        guard !isX11, let display = gdk_display_get_default(),
            let context = gdk_display_get_app_launch_context(display)
        else { return nil }
        // SAFETY: `context` is a GObject that this function owns.
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        // The name is required but never shown.
        let app = g_app_info_create_from_commandline("prompt", nil, G_APP_INFO_CREATE_NONE, nil)
        // SAFETY: `app` is a GObject that this function owns.
        defer { if let app { g_object_unref(UnsafeMutableRawPointer(app)) } }
        // SAFETY: GdkAppLaunchContext is a subclass of GAppLaunchContext.
        let launch = UnsafeMutablePointer<GAppLaunchContext>(context)
        guard let app, let token = g_app_launch_context_get_startup_notify_id(launch, app, nil)
        else { return nil }
        defer { g_free(token) }
        return String(cString: token)
    }
}
#endif

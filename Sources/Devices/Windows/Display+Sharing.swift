#if Prompt
import CAdwaita
import DBus

/// What a window of another program is tied to one of ours by, and takes the focus by.
extension Display {
    private final class Receiver {
        let name: @BusActor (String) -> Void

        init(_ name: @escaping @BusActor (String) -> Void) { self.name = name }

        /// Nil for none.
        static func at(_ address: UInt) -> Receiver? {
            // It belongs to the export that calls, which holds a reference.
            UnsafeRawPointer(bitPattern: address)
                .map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Calls back with what `setParent` takes in another program, each time the window appears.
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

    /// On Wayland a token of the last click or key, by which a window of another program may take
    /// the focus.
    package static func activationToken() -> String? {
        guard !isX11, let display = gdk_display_get_default(),
            let context = gdk_display_get_app_launch_context(display)
        else { return nil }
        // GObject takes any object's address.
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        // What it is for, in words that nobody reads.
        let app = g_app_info_create_from_commandline("prompt", nil, G_APP_INFO_CREATE_NONE, nil)
        // As above.
        defer { if let app { g_object_unref(UnsafeMutableRawPointer(app)) } }
        // A launch context of a display is one of GIO.
        let launch = UnsafeMutablePointer<GAppLaunchContext>(context)
        guard let app, let token = g_app_launch_context_get_startup_notify_id(launch, app, nil)
        else { return nil }
        defer { g_free(token) }
        return String(cString: token)
    }
}
#endif

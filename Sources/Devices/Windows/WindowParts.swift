#if Prompt
import CAdwaita
package import DBus

/// A window built from a description, with access to its parts by name.
@BusActor package struct WindowParts {
    private let builder: OpaquePointer

    /// Builds a window.
    ///
    /// - Throws: `failed` if the description is invalid.
    package init(_ description: [UInt8]) throws(DBusError) {
        let built = description.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                gtk_builder_new_from_string($0.baseAddress, gssize($0.count))
            }
        }
        guard let built else { throw DBusError(.failed, "There is no description of the window.") }
        builder = built
    }

    package subscript(_ name: String) -> Widget {
        guard let object = gtk_builder_get_object(builder, name) else {
            preconditionFailure("the description of the window has no \(name)")
        }
        return Widget(pointer: OpaquePointer(object))
    }

    /// Destroys the window; none of its parts may be used afterwards.
    package func destroy() {
        gtk_window_destroy(self["window"].asWindow)
        g_object_unref(Widget(pointer: builder).asObject)
    }
}

extension Widget {
    /// Shows every key to `body` before the window's widgets; true keeps the key from them.
    package func onKey(_ body: @escaping @BusActor (UInt32) -> Bool) {
        let keys = gtk_event_controller_key_new()
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        let pressed:
            @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean =
                { _, key, _, _, context in
                    let address = UInt(bitPattern: context)
                    return BusActor.assume { KeyReceiver.at(address)?.body(key) ?? false } ? 1 : 0
                }
        g_signal_connect_data(
            keys.map { Widget(pointer: $0).asObject },
            "key-pressed",
            unsafeBitCast(pressed, to: GCallback.self),
            Unmanaged.passRetained(KeyReceiver(body)).toOpaque(),
            { context, _ in
                guard let context else { return }
                Unmanaged<KeyReceiver>.fromOpaque(context).release()
            },
            GConnectFlags(0)
        )
        gtk_widget_add_controller(asWidget, keys)
    }
}

private final class KeyReceiver {
    let body: @BusActor (UInt32) -> Bool

    init(_ body: @escaping @BusActor (UInt32) -> Bool) { self.body = body }

    static func at(_ address: UInt) -> KeyReceiver? {
        // SAFETY: the connection that calls holds a reference.
        UnsafeRawPointer(bitPattern: address)
            .map { Unmanaged<KeyReceiver>.fromOpaque($0).takeUnretainedValue() }
    }
}
#endif

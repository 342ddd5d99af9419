#if Prompt
package import CAdwaita
package import DBus

/// A GTK object of a window; valid while the window exists.
@BusActor package struct Widget {
    package let pointer: OpaquePointer

    package init(pointer: OpaquePointer) { self.pointer = pointer }

    // SAFETY: GTK has a type for each class, but all of them point to the object itself.
    package var asWidget: UnsafeMutablePointer<GtkWidget> { UnsafeMutablePointer(pointer) }
    package var asWindow: UnsafeMutablePointer<GtkWindow> { UnsafeMutablePointer(pointer) }
    package var asBox: UnsafeMutablePointer<GtkBox> { UnsafeMutablePointer(pointer) }
    package var asObject: UnsafeMutablePointer<GObject> { UnsafeMutablePointer(pointer) }
    package func typed<Class>() -> UnsafeMutablePointer<Class> { UnsafeMutablePointer(pointer) }

    package func isA(_ type: GType) -> Bool { g_type_check_instance_is_a(typed(), type) != 0 }

    package var text: String {
        get { gtk_label_get_text(pointer).map { String(cString: $0) } ?? "" }
        nonmutating set {
            // Avoid setting an equal text: a screen reader announces every change.
            if text != newValue { gtk_label_set_text(pointer, newValue) }
        }
    }

    package var isVisible: Bool {
        get { gtk_widget_get_visible(asWidget) != 0 }
        nonmutating set { gtk_widget_set_visible(asWidget, newValue ? 1 : 0) }
    }

    /// True if the widget can be pressed.
    package var isEnabled: Bool {
        get { gtk_widget_get_sensitive(asWidget) != 0 }
        nonmutating set { gtk_widget_set_sensitive(asWidget, newValue ? 1 : 0) }
    }

    package var isEditable: Bool {
        get { gtk_editable_get_editable(pointer) != 0 }
        nonmutating set { gtk_editable_set_editable(pointer, newValue ? 1 : 0) }
    }

    package func takeFocus() { gtk_widget_grab_focus(asWidget) }

    /// Focuses a field, and puts the cursor after its text.
    ///
    /// `takeFocus` would select the text, and the next key would replace it.
    package func takeKeys() {
        guard let text = gtk_editable_get_delegate(pointer) else { return }
        // SAFETY: the delegate of these fields is a GtkText.
        gtk_text_grab_focus_without_selecting(UnsafeMutablePointer(text))
    }

    package var naturalWidth: gint { natural(GTK_ORIENTATION_HORIZONTAL, -1) }

    package func naturalHeight(_ width: gint) -> gint { natural(GTK_ORIENTATION_VERTICAL, width) }

    private func natural(_ orientation: GtkOrientation, _ other: gint) -> gint {
        var size: gint = 0
        gtk_widget_measure(asWidget, orientation, other, nil, &size, nil, nil)
        return size
    }

    /// Sets a label with a mnemonic: the letter after `_` activates `target`.
    package func setMnemonic(_ text: String, for target: Widget) {
        gtk_label_set_text_with_mnemonic(pointer, text)
        gtk_label_set_mnemonic_widget(pointer, target.asWidget)
    }

    /// Sets the name for assistive technologies, for a widget without text.
    package func setName(_ name: String) {
        var property = GTK_ACCESSIBLE_PROPERTY_LABEL
        var value = GValue(name)
        gtk_accessible_update_property_value(pointer, 1, &property, &value)
        g_value_unset(&value)
    }

    package func set(_ property: String, _ text: String) {
        var value = GValue(text)
        g_object_set_property(asObject, property, &value)
        g_value_unset(&value)
    }

    /// Sets a boolean property.
    package func set(_ property: String, _ isOn: Bool) {
        var value = GValue()
        g_value_init(&value, truthType)
        g_value_set_boolean(&value, isOn ? 1 : 0)
        g_object_set_property(asObject, property, &value)
        g_value_unset(&value)
    }

    /// Calls `body` for each emission of a signal, while the object exists.
    ///
    /// A single function serves all signal signatures. Swapped arguments put our context first, and
    /// the rest are ignored. The function returns TRUE to signals that ask whether they were
    /// handled.
    package func on(_ signal: String, _ body: @escaping @BusActor () -> Void) {
        let call: @convention(c) (gpointer) -> gboolean = { context in
            let address = UInt(bitPattern: context)
            BusActor.assume { Receiver.at(address)?.body() }
            return 1
        }
        let context = Unmanaged.passRetained(Receiver(body)).toOpaque()
        g_signal_connect_data(
            asObject,
            signal,
            unsafeBitCast(call, to: GCallback.self),
            context,
            { context, _ in
                guard let context else { return }
                Unmanaged<Receiver>.fromOpaque(context).release()
            },
            G_CONNECT_SWAPPED
        )
    }
}

final class Receiver {
    let body: @BusActor () -> Void

    init(_ body: @escaping @BusActor () -> Void) { self.body = body }

    static func at(_ address: UInt) -> Receiver? {
        // SAFETY: the connection that calls holds a reference.
        UnsafeRawPointer(bitPattern: address)
            .map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension GValue {
    /// Makes a string value; the caller has to unset it.
    fileprivate init(_ text: String) {
        self.init()
        g_value_init(&self, textType)
        g_value_set_string(&self, text)
    }
}

/// G_TYPE_STRING, the 16th fundamental type.
///
/// Swift cannot import the macro.
private let textType = GType(16 << 2)
/// G_TYPE_BOOLEAN, the 5th fundamental type.
private let truthType = GType(5 << 2)
/// The icon of a sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
package func sensorIcon(_ biometryType: UInt32) -> String {
    switch biometryType {
    case 1: "auth-fingerprint-symbolic"
    case 2: "auth-face-symbolic"
    case 4: "view-reveal-symbolic"
    default: "auth-smartcard-symbolic"
    }
}
#endif

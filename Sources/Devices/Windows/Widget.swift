#if Prompt
package import CAdwaita
package import DBus

/// A part of a window, which lives as long as the window does.
@BusActor package struct Widget {
    package let pointer: OpaquePointer

    package init(pointer: OpaquePointer) { self.pointer = pointer }

    // GTK has a type for each class of what is one object to it.
    package var asWidget: UnsafeMutablePointer<GtkWidget> { UnsafeMutablePointer(pointer) }
    package var asWindow: UnsafeMutablePointer<GtkWindow> { UnsafeMutablePointer(pointer) }
    package var asBox: UnsafeMutablePointer<GtkBox> { UnsafeMutablePointer(pointer) }
    package var asObject: UnsafeMutablePointer<GObject> { UnsafeMutablePointer(pointer) }
    package func typed<Class>() -> UnsafeMutablePointer<Class> { UnsafeMutablePointer(pointer) }

    /// Whether the object is of a class or of a subclass.
    package func isA(_ type: GType) -> Bool { g_type_check_instance_is_a(typed(), type) != 0 }

    /// What a label says: plain text.
    package var text: String {
        get { gtk_label_get_text(pointer).map { String(cString: $0) } ?? "" }
        nonmutating set {
            // Said again only when it is another: who listens hears each change.
            if text != newValue { gtk_label_set_text(pointer, newValue) }
        }
    }

    package var isVisible: Bool {
        get { gtk_widget_get_visible(asWidget) != 0 }
        nonmutating set { gtk_widget_set_visible(asWidget, newValue ? 1 : 0) }
    }

    /// Whether it can be pressed.
    package var isEnabled: Bool {
        get { gtk_widget_get_sensitive(asWidget) != 0 }
        nonmutating set { gtk_widget_set_sensitive(asWidget, newValue ? 1 : 0) }
    }

    /// Whether a field takes what is typed.
    package var isEditable: Bool {
        get { gtk_editable_get_editable(pointer) != 0 }
        nonmutating set { gtk_editable_set_editable(pointer, newValue ? 1 : 0) }
    }

    /// Makes it the one that gets the keys.
    package func takeFocus() { gtk_widget_grab_focus(asWidget) }

    /// Makes a field the one that gets the keys, which are added to what is in it: of what is
    /// selected, as `takeFocus` leaves it, the next one would replace everything.
    package func takeKeys() {
        guard let text = gtk_editable_get_delegate(pointer) else { return }
        // GTK's name for what is one object to it.
        gtk_text_grab_focus_without_selecting(UnsafeMutablePointer(text))
    }

    /// How wide it would be with all the room that it wants.
    package var naturalWidth: gint { natural(GTK_ORIENTATION_HORIZONTAL, -1) }

    /// How high it would be at a width.
    package func naturalHeight(_ width: gint) -> gint { natural(GTK_ORIENTATION_VERTICAL, width) }

    private func natural(_ orientation: GtkOrientation, _ other: gint) -> gint {
        var size: gint = 0
        gtk_widget_measure(asWidget, orientation, other, nil, &size, nil, nil)
        return size
    }

    /// A label whose letter after `_` presses another part.
    package func setMnemonic(_ text: String, for target: Widget) {
        gtk_label_set_text_with_mnemonic(pointer, text)
        gtk_label_set_mnemonic_widget(pointer, target.asWidget)
    }

    /// What it is to assistive technologies, where it has no text of its own.
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

    /// Moves a property that is on or off.
    package func set(_ property: String, _ isOn: Bool) {
        var value = GValue()
        g_value_init(&value, truthType)
        g_value_set_boolean(&value, isOn ? 1 : 0)
        g_object_set_property(asObject, property, &value)
        g_value_unset(&value)
    }

    /// Calls `body` for each emission of a signal, for as long as the object lives.
    ///
    /// One function serves signals of every shape: with the arguments swapped, the first is ours
    /// and the others need no names. It answers TRUE where the signal asks whether it was handled.
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

/// What is called when something happens.
final class Receiver {
    let body: @BusActor () -> Void

    init(_ body: @escaping @BusActor () -> Void) { self.body = body }

    /// Nil for none.
    static func at(_ address: UInt) -> Receiver? {
        // It belongs to the connection that calls, which holds a reference.
        UnsafeRawPointer(bitPattern: address)
            .map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension GValue {
    /// A text; to be unset.
    fileprivate init(_ text: String) {
        self.init()
        g_value_init(&self, textType)
        g_value_set_string(&self, text)
    }
}

/// G_TYPE_STRING, a macro that Swift doesn't import: the 16th fundamental type.
private let textType = GType(16 << 2)
/// G_TYPE_BOOLEAN, the 5th.
private let truthType = GType(5 << 2)
/// What stands for a sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
package func sensorIcon(_ biometryType: UInt32) -> String {
    switch biometryType {
    case 1: "auth-fingerprint-symbolic"
    case 2: "auth-face-symbolic"
    case 4: "view-reveal-symbolic"
    default: "auth-smartcard-symbolic"
    }
}
#endif

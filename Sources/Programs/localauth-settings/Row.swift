#if Prompt
import CAdwaita
import DBus
import Windows

/// A row of a list: what it is about, what is said of it, and what can be done.
@BusActor struct Row {
    let widget: Widget

    /// Nil when there is no memory for it.
    init?(_ title: String, _ subtitle: String) {
        guard let made = adw_action_row_new() else { return nil }
        widget = Widget(pointer: OpaquePointer(made))
        // Labels are people's own and descriptions a sensor's: markup in them is shown as it is.
        widget.set("use-markup", false)
        widget.set("title", title)
        widget.set("subtitle", subtitle)
        widget.set("activatable", false)
    }

    /// Says something else of it.
    func say(_ subtitle: String) { widget.set("subtitle", subtitle) }

    /// A picture before it, and what that stands for.
    func show(_ icon: String, _ name: String) {
        guard let made = gtk_image_new_from_icon_name(icon) else { return }
        let image = Widget(pointer: OpaquePointer(made))
        gtk_image_set_pixel_size(image.pointer, 32)
        image.setName(name)
        adw_action_row_add_prefix(asRow, image.asWidget)
    }

    /// A button at its end; with an icon the title is what screen readers say.
    @discardableResult
    func addButton(
        _ title: String,
        icon: String? = nil,
        _ body: @escaping @BusActor () -> Void
    ) -> Widget? {
        let made =
            icon.map { gtk_button_new_from_icon_name($0) } ?? gtk_button_new_with_label(title)
        guard let made else { return nil }
        let button = Widget(pointer: OpaquePointer(made))
        gtk_widget_set_valign(button.asWidget, GTK_ALIGN_CENTER)
        if icon != nil {
            button.setName(title)
            gtk_widget_set_tooltip_text(button.asWidget, title)
        }
        button.on("clicked", body)
        adw_action_row_add_suffix(asRow, button.asWidget)
        return button
    }

    /// A field at its end, which Enter hands over.
    func addField(
        _ text: String,
        _ name: String,
        _ body: @escaping @BusActor (String) -> Void
    ) -> Widget? {
        guard let made = gtk_entry_new() else { return nil }
        let field = Widget(pointer: OpaquePointer(made))
        gtk_editable_set_text(field.pointer, text)
        gtk_editable_set_width_chars(field.pointer, 16)
        gtk_widget_set_valign(field.asWidget, GTK_ALIGN_CENTER)
        field.setName(name)
        field.on("activate") { body(field.content) }
        adw_action_row_add_suffix(asRow, field.asWidget)
        return field
    }

    // GTK's name for what is one object to it.
    private var asRow: UnsafeMutablePointer<AdwActionRow> {
        // As above.
        UnsafeMutablePointer(widget.pointer)
    }
}

extension Widget {
    /// What stands in a field.
    var content: String { gtk_editable_get_text(pointer).map { String(cString: $0) } ?? "" }
}
#endif

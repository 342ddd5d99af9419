#if Prompt
import CAdwaita
import DBus
import Localization
import Windows

@BusActor struct Row {
    let widget: Widget
    private let isEntry: Bool

    /// Makes a row with title and subtitle; nil when memory is short.
    init?(_ title: String, _ subtitle: String) {
        guard let made = adw_action_row_new() else { return nil }
        self.init(made, title, isEntry: false)
        widget.set("subtitle", subtitle)
        widget.set("activatable", false)
    }

    /// Makes a row with an editable name: Enter or the button “Apply” passes on the new name.
    init?(_ title: String, name: String, _ apply: @escaping @BusActor (String) -> Void) {
        guard let made = adw_entry_row_new() else { return nil }
        self.init(made, title, isEntry: true)
        let field = widget
        gtk_editable_set_text(field.pointer, name)
        adw_entry_row_set_show_apply_button(field.typed(), 1)
        field.on("apply") { apply(field.content) }
        if let text = gtk_editable_get_delegate(field.pointer) {
            gtk_text_set_max_length(Widget(pointer: text).typed(), 64)
        }
        nameParts(of: field, name)
    }

    /// Makes a flat button across the row; nil when memory is short.
    init?(button title: String, _ body: @escaping @BusActor () -> Void) {
        guard let made = adw_preferences_row_new(), let button = Widget(button: title, body)
        else { return nil }
        self.init(made, title, isEntry: false)
        gtk_widget_add_css_class(button.asWidget, "flat")
        gtk_widget_set_focusable(made, 0)
        widget.set("activatable", false)
        gtk_list_box_row_set_child(widget.typed(), button.asWidget)
    }

    // SAFETY: GTK's constructors return every widget as a pointer to the base class.
    private init(_ made: UnsafeMutablePointer<GtkWidget>, _ title: String, isEntry: Bool) {
        widget = Widget(pointer: OpaquePointer(made))
        self.isEntry = isEntry
        // Names and descriptions come from people and sensors: show markup in them unchanged.
        widget.set("use-markup", false)
        widget.set("title", title)
    }

    func say(_ subtitle: String) { widget.set("subtitle", subtitle) }

    /// Shows a picture before the title; `name` is for screen readers.
    func show(_ icon: String, _ name: String, size: gint = 32) {
        guard let made = gtk_image_new_from_icon_name(icon) else { return }
        let image = Widget(pointer: OpaquePointer(made))
        gtk_image_set_pixel_size(image.pointer, size)
        image.setName(name)
        adw_action_row_add_prefix(widget.typed(), image.asWidget)
    }

    /// Adds a button at the end; with an icon the title is a tooltip.
    @discardableResult
    func addButton(
        _ title: String,
        icon: String? = nil,
        _ body: @escaping @BusActor () -> Void
    ) -> Widget? {
        guard let button = Widget(button: title, icon: icon, body) else { return nil }
        gtk_widget_set_valign(button.asWidget, GTK_ALIGN_CENTER)
        if icon != nil { gtk_widget_add_css_class(button.asWidget, "flat") }
        if isEntry {
            adw_entry_row_add_suffix(widget.typed(), button.asWidget)
        } else {
            adw_action_row_add_suffix(widget.typed(), button.asWidget)
        }
        return button
    }

    /// Names the parts that libadwaita 1.2 leaves without a name for screen readers.
    private func nameParts(of part: Widget, _ name: String) {
        var next = gtk_widget_get_first_child(part.asWidget)
        while let child = next {
            let part = Widget(pointer: OpaquePointer(child))
            if part.isA(gtk_button_get_type()) {
                part.setName(localized("Apply"))
            } else if part.isA(gtk_image_get_type()) {
                part.setName(localized("Rename “%1$s”", name))
            } else {
                nameParts(of: part, name)
            }
            next = gtk_widget_get_next_sibling(child)
        }
    }
}

extension Widget {
    /// Makes a button with an icon and a tooltip, or with a title that wraps; nil when memory is
    /// short.
    init?(button title: String, icon: String? = nil, _ body: @escaping @BusActor () -> Void) {
        let made =
            icon.map { gtk_button_new_from_icon_name($0) } ?? gtk_button_new_with_label(title)
        guard let made else { return nil }
        self.init(pointer: OpaquePointer(made))
        if icon == nil {
            let label = gtk_button_get_child(typed())
            if let label = label.map({ Widget(pointer: OpaquePointer($0)) }) {
                gtk_label_set_wrap(label.pointer, 1)
                gtk_label_set_natural_wrap_mode(label.pointer, GTK_NATURAL_WRAP_NONE)
                gtk_label_set_justify(label.pointer, GTK_JUSTIFY_CENTER)
            }
        } else {
            setName(title)
            gtk_widget_set_tooltip_text(asWidget, title)
        }
        on("clicked", body)
    }

    var content: String { gtk_editable_get_text(pointer).map { String(cString: $0) } ?? "" }
}
#endif

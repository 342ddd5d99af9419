#if Prompt
import AgentKit
import CAdwaita
import DBus
import Glibc
import Windows

/// The one place in this process where a typed secret is: a text buffer of GTK's on locked pages.
///
/// GTK's own buffer for passwords keeps what was deleted until the window goes. And GTK 4.8 tells
/// whoever listens on the bus of accessibility what is typed and deleted in a field, and gives the
/// whole text to whoever asks there, also in a field for passwords. So GTK has only a star for each
/// character.
@BusActor enum SecretBuffer {
    private static var line: SecretLine?
    /// Composes letters for the field; a reference of its own.
    private static var composer: OpaquePointer?
    /// Where what is being typed lies, while GTK is told of as many stars; 0: nowhere.
    private static var typed: UInt = 0
    /// As many stars as can be typed, at an address that is never freed.
    ///
    /// The last so many of them are a text as well.
    private static let stars = UInt(
        // A number, because pointers can't leave the closures below.
        bitPattern: strdup(String(repeating: "*", count: SecretLine.longestPassword))
    )
    private static let type = register()
    /// Called after each change, and when a letter or a paste does not fit.
    static var changed: @BusActor (_ fits: Bool) -> Void = { _ in }

    /// Has a field keep what is typed there; of one window at a time.
    /// - Throws: Failed when the memory can't be locked.
    static func use(in field: Widget) throws(DBusError) {
        if line == nil { line = try SecretLine() }
        wipe()
        guard let object = g_object_new_with_properties(type, 0, nil, nil),
            let text = gtk_editable_get_delegate(field.pointer)
        else { throw DBusError(.failed, "The field for the password can't be made.") }
        defer { g_object_unref(object) }
        // GTK's names for what are one object and another.
        let buffer = UnsafeMutablePointer<GtkEntryBuffer>(OpaquePointer(object))
        let place = UnsafeMutablePointer<GtkText>(text)
        gtk_text_set_buffer(place, buffer)
        disguise(Widget(pointer: text))
        compose(in: Widget(pointer: text))
        // What is shown is copied to wherever letters are drawn.
        gtk_widget_action_set_enabled(Widget(pointer: text).asWidget, "misc.toggle-visibility", 0)
    }

    /// The longest secret that is taken, in bytes.
    static var limit: Int {
        get { line?.limit ?? 0 }
        set { line?.limit = newValue }
    }

    static var isEmpty: Bool { line?.isEmpty ?? true }

    /// Forgets also a letter that is being composed.
    static func wipe() {
        line?.wipe()
        // GTK's name for the object.
        if let composer { gtk_im_context_reset(UnsafeMutablePointer(composer)) }
    }

    /// What was typed, where it lies.
    static func send(to prompt: Prompt) throws(DBusError) {
        try line?.withBytes { bytes throws(DBusError) in try prompt.submit(passcode: bytes) }
    }

    // MARK: Keys

    /// Composes letters before the field gets the keys: GTK draws a letter that is being composed
    /// readably, also in a field for passwords.
    ///
    /// The input method of the desktop is another process, which may hear each key over a bus.
    private static func compose(in field: Widget) {
        field.set("im-module", "gtk-im-context-none")
        guard let keys = gtk_event_controller_key_new(), let composer = gtk_im_context_simple_new()
        else { return }
        // GTK's name for what is an object to GObject.
        let object = UnsafeMutableRawPointer(composer)
        if let former = Self.composer { g_object_unref(UnsafeMutableRawPointer(former)) }
        Self.composer = OpaquePointer(composer)
        gtk_im_context_set_client_widget(composer, field.asWidget)
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        gtk_event_controller_key_set_im_context(keys, composer)
        typealias Commit =
            // The composer, the composed letters for the time of the call, and the field.
            @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, gpointer?) -> Void
        let commit: Commit = { _, letters, field in
            guard let letters, let field else { return }
            let editable = OpaquePointer(field)
            guard gtk_editable_get_editable(editable) != 0 else { return }
            gtk_editable_delete_selection(editable)
            var position = gtk_editable_get_position(editable)
            gtk_editable_insert_text(editable, letters, -1, &position)
            gtk_editable_set_position(editable, position)
        }
        g_signal_connect_data(
            object,
            "commit",
            // GObject calls it with the arguments that this signal has.
            unsafeBitCast(commit, to: GCallback.self),
            // Without its field the composer gets no keys.
            UnsafeMutableRawPointer(field.pointer),
            nil,
            GConnectFlags(0)
        )
        gtk_widget_add_controller(field.asWidget, keys)
    }

    // MARK: What GTK calls

    private static func register() -> GType {
        g_type_register_static_simple(
            gtk_entry_buffer_get_type(),
            "LocalauthSecretBuffer",
            guint(MemoryLayout<GtkEntryBufferClass>.size),
            { table, _ in
                guard let table = table?.assumingMemoryBound(to: GtkEntryBufferClass.self)
                else { return }
                table.pointee.get_text = { _, size in SecretBuffer.text(size) }
                table.pointee.get_length = { _ in SecretBuffer.length() }
                table.pointee.insert_text = { SecretBuffer.insert($0, $1, $2, $3) }
                table.pointee.delete_text = { SecretBuffer.delete($0, $1, $2) }
                table.pointee.deleted_text = { SecretBuffer.deleted($1, $2) }
            },
            guint(MemoryLayout<GtkEntryBuffer>.size),
            nil,
            GTypeFlags(0)
        )
    }

    /// Has GTK insert stars instead of what is typed, before anybody else learns of it.
    private static func disguise(_ field: Widget) {
        // The arguments of the signal, and what is handed over to it.
        typealias InsertText =
            @convention(c) (
                // GTK's own, for the time of the call.
                UnsafeMutablePointer<GtkText>?, UnsafePointer<CChar>?, gint,
                // The same; where it is inserted, and behind it afterwards.
                UnsafeMutablePointer<gint>?, gpointer?
            ) -> Void
        let handler: InsertText = { field, text, size, position, _ in
            SecretBuffer.insertStars(for: text, Int(size), at: position, in: field)
        }
        g_signal_connect_data(
            field.asObject,
            "insert-text",
            // GObject calls it with the arguments that this signal has.
            unsafeBitCast(handler, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
    }

    private nonisolated static func insertStars(
        // GTK's own, for the time of the call.
        for text: UnsafePointer<CChar>?,
        _ size: Int,
        // The same.
        at position: UnsafeMutablePointer<gint>?,
        // The same.
        in field: UnsafeMutablePointer<GtkText>?
    ) {
        guard let text, let field else { return }
        let address = UInt(bitPattern: text)
        let isTyped = BusActor.assume {
            // It is called for the stars as well.
            guard typed == 0 else { return false }
            typed = address
            return true
        }
        guard isTyped else { return }
        defer { BusActor.assume { typed = 0 } }
        g_signal_stop_emission_by_name(field, "insert-text")
        let fits = BusActor.assume {
            let fits = size <= limit - (line?.count ?? 0)
            if !fits { changed(false) }
            return fits
        }
        // Half of what was pasted would be another password.
        guard fits else { return }
        let count = Int(g_utf8_strlen(text, gssize(size)))
        gtk_editable_insert_text(OpaquePointer(field), stars(count), gint(count), position)
    }

    // They stay for as long as the process.
    private nonisolated static func stars(_ count: Int) -> UnsafePointer<CChar>? {
        let address = BusActor.assume { stars }
        // The last so many.
        return UnsafePointer(bitPattern: address + UInt(SecretLine.longestPassword - count))
    }

    // What GTK has for the text.
    private nonisolated static func text(
        _ size: UnsafeMutablePointer<gsize>?
    ) -> UnsafePointer<CChar>? {
        size?.pointee = gsize(length())
        return stars(Int(length()))
    }

    private nonisolated static func length() -> guint {
        BusActor.assume { guint(clamping: g_utf8_strlen(line?.cString, line?.count ?? 0)) }
    }

    private nonisolated static func insert(
        // GTK's own, for the time of the call.
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?,
        _ position: guint,
        // Stars: what was typed is somewhere else.
        _ characters: UnsafePointer<CChar>?,
        _ count: guint
    ) -> guint {
        let source = BusActor.assume { typed }
        // A character, or what was pasted: GTK's own, for the time of the call.
        guard let characters, let secret = UnsafePointer<CChar>(bitPattern: source)
        else { return 0 }
        let size = offset(of: count, in: secret)
        let isTaken = BusActor.assume {
            guard let text = line?.cString else { return false }
            let place = offset(of: position, in: text)
            // Copied into the page, and nowhere else.
            let bytes = UnsafeRawBufferPointer(
                start: UnsafeRawPointer(bitPattern: source),
                count: size
            )
            return line?.insert(bytes, at: place) ?? false
        }
        guard isTaken else { return 0 }
        gtk_entry_buffer_emit_inserted_text(buffer, position, characters, count)
        BusActor.assume { changed(true) }
        return count
    }

    /// GTK asks first what is to be deleted, and tells that it may go by the signal.
    private nonisolated static func delete(
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?,
        _ position: guint,
        _ count: guint
    ) -> guint {
        let all = length()
        guard position < all else { return 0 }
        let count = min(count, all - position)
        if count > 0 { gtk_entry_buffer_emit_deleted_text(buffer, position, count) }
        return count
    }

    private nonisolated static func deleted(_ position: guint, _ count: guint) {
        BusActor.assume {
            guard let text = line?.cString else { return }
            let start = offset(of: position, in: text)
            let end = offset(of: position &+ count, in: text)
            line?.remove(start..<end)
            changed(true)
        }
    }

    private nonisolated static func offset(
        of characters: guint,
        // Ends with a zero.
        in text: UnsafePointer<CChar>
    ) -> Int {
        guard let end = g_utf8_offset_to_pointer(text, glong(characters)) else { return 0 }
        // The same text, as GLib gives it back.
        return UnsafePointer(end) - text
    }
}
#endif

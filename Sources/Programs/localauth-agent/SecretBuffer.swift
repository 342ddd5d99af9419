#if Prompt
import AgentKit
import CAdwaita
import DBus
import Glibc
import Windows

/// Holds the typed secret on locked pages, the only place in this process that has it.
///
/// GTK sees only a star for each character, for two reasons. Its own password buffer keeps deleted
/// text until the window closes. GTK 4.8 also announces edits on the accessibility bus, and gives
/// the whole text to any process there, even for password fields.
@BusActor enum SecretBuffer {
    private static var line: SecretLine?
    /// Composes characters for the field; owns a reference.
    private static var composer: OpaquePointer?
    /// Address of the text being inserted while GTK is told the matching number of stars; 0: none.
    private static var pendingText: UInt = 0
    /// The longest run of stars, at an address that is never freed; each suffix is a valid text
    /// too.
    private static let stars = UInt(
        // An integer, because the closures below can't capture a pointer.
        bitPattern: strdup(String(repeating: "*", count: SecretLine.longestPassword))
    )
    private static let type = register()
    /// Called after each change, and with false when a character or paste does not fit.
    static var changed: @BusActor (_ fits: Bool) -> Void = { _ in }

    /// Makes a field store its text here; serves one window at a time.
    ///
    /// - Throws: `Failed` when the memory can't be locked.
    static func use(in field: Widget) throws(DBusError) {
        if line == nil { line = try SecretLine() }
        wipe()
        guard let object = g_object_new_with_properties(type, 0, nil, nil),
            let text = gtk_editable_get_delegate(field.pointer)
        else { throw DBusError(.failed, "The field for the password can't be made.") }
        defer { g_object_unref(object) }
        // SAFETY: both are GObjects of exactly these classes, created by GTK above.
        let buffer = UnsafeMutablePointer<GtkEntryBuffer>(OpaquePointer(object))
        let place = UnsafeMutablePointer<GtkText>(text)
        gtk_text_set_buffer(place, buffer)
        insertStarsInstead(Widget(pointer: text))
        compose(in: Widget(pointer: text))
        // Showing the text would copy it to wherever GTK draws text.
        gtk_widget_action_set_enabled(Widget(pointer: text).asWidget, "misc.toggle-visibility", 0)
    }

    /// The longest secret accepted, in bytes.
    static var limit: Int {
        get { line?.limit ?? 0 }
        set { line?.limit = newValue }
    }

    static var isEmpty: Bool { line?.isEmpty ?? true }

    /// Overwrites the secret, and drops a half-composed character.
    static func wipe() {
        line?.wipe()
        // SAFETY: `composer` was created as a GtkIMContext and is still owned here.
        if let composer { gtk_im_context_reset(UnsafeMutablePointer(composer)) }
    }

    /// Sends the secret straight from the locked pages.
    static func send(to prompt: Prompt) throws(DBusError) {
        try line?.withBytes { bytes throws(DBusError) in try prompt.submit(passcode: bytes) }
    }

    // MARK: Keys

    /// Composes characters before the field receives keys, because GTK draws a half-composed
    /// character in the clear, even in a password field.
    ///
    /// The desktop's input method is bypassed: another process that may receive each key over a
    /// bus.
    private static func compose(in field: Widget) {
        field.set("im-module", "gtk-im-context-none")
        guard let keys = gtk_event_controller_key_new(), let composer = gtk_im_context_simple_new()
        else { return }
        // SAFETY: GObject functions take any GObject as an untyped pointer.
        let object = UnsafeMutableRawPointer(composer)
        if let former = Self.composer { g_object_unref(UnsafeMutableRawPointer(former)) }
        Self.composer = OpaquePointer(composer)
        gtk_im_context_set_client_widget(composer, field.asWidget)
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        gtk_event_controller_key_set_im_context(keys, composer)
        typealias Commit =
            // The composer, the composed text (valid during the call), and the field.
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
            // SAFETY: GObject calls it with the arguments of the "commit" signal.
            unsafeBitCast(commit, to: GCallback.self),
            // The handler needs the field to insert the composed text.
            UnsafeMutableRawPointer(field.pointer),
            nil,
            GConnectFlags(0)
        )
        gtk_widget_add_controller(field.asWidget, keys)
    }

    // MARK: Callbacks of GTK

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

    /// Makes GTK insert stars before any other listener sees the typed text.
    private static func insertStarsInstead(_ field: Widget) {
        typealias InsertText =
            @convention(c) (
                // Both owned by GTK and valid during the call.
                UnsafeMutablePointer<GtkText>?, UnsafePointer<CChar>?, gint,
                // In: where to insert. Out: the position behind the text.
                UnsafeMutablePointer<gint>?, gpointer?
            ) -> Void
        let handler: InsertText = { field, text, size, position, _ in
            SecretBuffer.insertStars(for: text, Int(size), at: position, in: field)
        }
        g_signal_connect_data(
            field.asObject,
            "insert-text",
            // SAFETY: GObject calls it with the arguments of the "insert-text" signal.
            unsafeBitCast(handler, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
    }

    private nonisolated static func insertStars(
        // SAFETY: all three pointers belong to GTK and are valid during the call.
        for text: UnsafePointer<CChar>?,
        _ size: Int,
        at position: UnsafeMutablePointer<gint>?,
        in field: UnsafeMutablePointer<GtkText>?
    ) {
        guard let text, let field else { return }
        let address = UInt(bitPattern: text)
        let isTyped = BusActor.assume {
            // The insertion of stars below calls this handler again.
            guard pendingText == 0 else { return false }
            pendingText = address
            return true
        }
        guard isTyped else { return }
        defer { BusActor.assume { pendingText = 0 } }
        g_signal_stop_emission_by_name(field, "insert-text")
        let fits = BusActor.assume {
            let fits = size <= limit - (line?.count ?? 0)
            if !fits { changed(false) }
            return fits
        }
        // Refuse a paste that does not fit: half of it would be another password.
        guard fits else { return }
        let count = Int(g_utf8_strlen(text, gssize(size)))
        gtk_editable_insert_text(OpaquePointer(field), stars(count), gint(count), position)
    }

    // SAFETY: the stars are never freed.
    private nonisolated static func stars(_ count: Int) -> UnsafePointer<CChar>? {
        let address = BusActor.assume { stars }
        return UnsafePointer(bitPattern: address + UInt(SecretLine.longestPassword - count))
    }

    // GTK's text: as many stars as the secret has characters.
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
        // Owned by GTK and valid during the call.
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?,
        _ position: guint,
        // Stars; the typed text lies at `pendingText`.
        _ characters: UnsafePointer<CChar>?,
        _ count: guint
    ) -> guint {
        let source = BusActor.assume { pendingText }
        // SAFETY: `insertStars` sets `pendingText` only while GTK's text is valid.
        guard let characters, let secret = UnsafePointer<CChar>(bitPattern: source)
        else { return 0 }
        let size = offset(of: count, in: secret)
        let isTaken = BusActor.assume {
            guard let text = line?.cString else { return false }
            let place = offset(of: position, in: text)
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

    /// Tells GTK to delete.
    ///
    /// GTK emits `deleted-text`, whose handler removes the text.
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
        // SAFETY: ends with NUL.
        in text: UnsafePointer<CChar>
    ) -> Int {
        guard let end = g_utf8_offset_to_pointer(text, glong(characters)) else { return 0 }
        // Both pointers are into the same text.
        return UnsafePointer(end) - text
    }
}
#endif

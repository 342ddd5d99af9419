#if Prompt
import AgentKit
import CAdwaita
import DBus
import Glibc
import Windows

/// The one place in this process where a typed secret is: a text buffer of GTK's on a locked page.
///
/// GTK's own buffer for passwords keeps what was deleted until the window goes.
@BusActor enum SecretBuffer {
    private static var line: SecretLine?
    private static let type = register()

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
        // Of four bytes at most.
        gtk_entry_buffer_set_max_length(buffer, gint(SecretLine.capacity / 4))
        gtk_text_set_buffer(place, buffer)
        // Not through the input method of the desktop, which is another process, and may be told
        // each key over a bus.
        Widget(pointer: text).set("im-module", "gtk-im-context-simple")
        // What is shown is copied to wherever letters are drawn.
        gtk_widget_action_set_enabled(Widget(pointer: text).asWidget, "misc.toggle-visibility", 0)
    }

    static var isEmpty: Bool { line?.isEmpty ?? true }

    static func wipe() { line?.wipe() }

    /// What was typed, where it lies.
    static func send(to prompt: Prompt) throws(DBusError) {
        try line?.withBytes { bytes throws(DBusError) in try prompt.submit(passcode: bytes) }
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

    // GTK reads at the address at once; the page stays for as long as the process.
    private nonisolated static func text(
        _ size: UnsafeMutablePointer<gsize>?
    ) -> UnsafePointer<CChar>? {
        let (address, count) = BusActor.assume {
            (UInt(bitPattern: line?.cString), line?.count ?? 0)
        }
        size?.pointee = gsize(count)
        // A number meanwhile: pointers can't leave the closure.
        return UnsafePointer(bitPattern: address)
    }

    private nonisolated static func length() -> guint {
        BusActor.assume { guint(clamping: g_utf8_strlen(line?.cString, line?.count ?? 0)) }
    }

    private nonisolated static func insert(
        // GTK's own, for the time of the call.
        _ buffer: UnsafeMutablePointer<GtkEntryBuffer>?,
        _ position: guint,
        // What was typed: a character, or what was pasted.
        _ characters: UnsafePointer<CChar>?,
        _ count: guint
    ) -> guint {
        guard let characters else { return 0 }
        let size = offset(of: count, in: characters)
        let source = UInt(bitPattern: characters)
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

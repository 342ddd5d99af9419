#if Prompt
import CAdwaita
package import DBus

/// Runs GLib's loop with this project's event loop inside it, on the thread of the windows.
@BusActor package enum GLibLoop {
    /// The event loop's descriptor that GLib polls.
    private static var watched: (descriptor: Int32, tag: gpointer)?

    package nonisolated static func run() {
        EventLoop.shared.run {
            BusActor.assume { attach() }
            g_main_loop_run(g_main_loop_new(nil, 0))
        }
    }

    /// Calls `body` after GTK has handled and drawn all pending input.
    package static func afterInput(_ body: @escaping @BusActor () -> Void) {
        let call: GSourceFunc = { context in
            let address = UInt(bitPattern: context)
            BusActor.assume { Receiver.at(address)?.body() }
            return 0
        }
        g_idle_add_full(
            G_PRIORITY_DEFAULT_IDLE,
            call,
            Unmanaged.passRetained(Receiver(body)).toOpaque()
        ) { context in
            guard let context else { return }
            Unmanaged<Receiver>.fromOpaque(context).release()
        }
    }

    private static func attach() {
        // SAFETY: GLib uses the table while the source exists. Neither is ever freed.
        let table = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        table.initialize(to: GSourceFuncs())
        table.pointee.prepare = { _, limit in
            let wait = BusActor.assume { GLibLoop.prepare() }
            limit?.pointee = wait
            return wait == 0 ? 1 : 0
        }
        table.pointee.check = { _ in
            BusActor.assume { GLibLoop.isReady ? 1 : 0 }
        }
        table.pointee.dispatch = { _, _, _ in
            BusActor.assume { EventLoop.shared.serve() }
            return 1
        }
        source = g_source_new(table, guint(MemoryLayout<GSource>.size))
        g_source_attach(source, nil)
    }

    // SAFETY: never freed.
    private static var source: UnsafeMutablePointer<GSource>?

    private static func prepare() -> gint {
        let wait = EventLoop.shared.prepare()
        let descriptor = EventLoop.shared.descriptor
        if watched?.descriptor != descriptor {
            if let watched { g_source_remove_unix_fd(source, watched.tag) }
            watched = g_source_add_unix_fd(source, descriptor, G_IO_IN)
                .map { (descriptor, $0) }
        }
        return wait
    }

    private static var isReady: Bool {
        guard let watched else { return false }
        return g_source_query_unix_fd(source, watched.tag).rawValue != 0
            || EventLoop.shared.prepare() == 0
    }
}
#endif

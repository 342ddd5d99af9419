#if Prompt
import CAdwaita
import DBus
import Windows

@BusActor struct App {
    private let info: OpaquePointer

    /// The desktop's settings for users; nil on unknown desktops.
    static let users = App(among: [
        // GNOME since 46, older GNOME, KDE Plasma.
        "gnome-users-panel.desktop", "gnome-user-accounts-panel.desktop", "kcm_users.desktop",
    ])

    private init?(among names: Set<String>) {
        let all = g_app_info_get_all()
        defer { g_list_free_full(all) { g_object_unref($0) } }
        var next = all
        while let node = next {
            next = node.pointee.next
            let info = OpaquePointer(node.pointee.data)
            guard let info, let name = g_app_info_get_id(info).map({ String(cString: $0) }),
                names.contains(name)
            else { continue }
            self.info = info
            g_object_ref(node.pointee.data)
            return
        }
        return nil
    }

    func launch() {
        guard let display = gdk_display_get_default(),
            let context = gdk_display_get_app_launch_context(display)
        else { return }
        defer { g_object_unref(Widget(pointer: context).asObject) }
        g_app_info_launch(info, nil, Widget(pointer: context).typed(), nil)
    }
}
#endif

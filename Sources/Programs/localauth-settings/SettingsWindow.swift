#if Prompt
import AgentKit
import CAdwaita
import DBus
import LocalAuthClient
import Localization
import Passkeys
import Windows

/// The window “Fingerprint & Face”: sensors with their templates, passkeys, a test, and problems.
@BusActor final class SettingsWindow {
    private let settings: Settings
    private let parts: WindowParts
    private let ended: @BusActor () -> Void
    private var drawn: Settings.Content?
    private var groups: [Widget] = []
    private var buttons: [Widget] = []
    private var passkeys: [Row] = []
    private var problems: [(group: Widget, row: Row)] = []
    private var test: Row?
    private var testButton: Widget?
    private var enrollment: EnrollmentWindow?
    private let checking = localized("Checking …")

    /// Shows the window; `ended` is called when the user closes it.
    ///
    /// - Throws: `Failed` when the window's description can't be parsed.
    init(_ settings: Settings, ended: @escaping @BusActor () -> Void) throws(DBusError) {
        self.settings = settings
        self.ended = ended
        parts = try WindowParts(PackageResources.settings_ui)
        describe()
        settings.changed = { [weak self] in self?.draw() }
        settings.onError = { [weak self] in self?.tell($0) }
        settings.loaded = { [weak self] in
            if self?.part("status").text == self?.checking { self?.tell(nil) }
        }
        part("window").on("close-request") { [weak self] in self?.ended() }
        part("refresh").on("clicked") { [weak self] in self?.checkAgain() }
        Display.share(part("window")) { [weak settings] in settings?.window = $0 }
        tell(checking)
        Display.show(part("window"))
    }

    func close() {
        enrollment?.close()
        parts.destroy()
    }

    private func describe() {
        gtk_window_set_title(part("window").asWindow, localized("Fingerprint & Face"))
        gtk_window_set_icon_name(part("window").asWindow, "localauth-settings")
        let refresh = localized("Check again")
        part("refresh").setName(refresh)
        gtk_widget_set_tooltip_text(part("refresh").asWidget, refresh)
        for group in ["problems", "empty-problems"] {
            part(group).set("title", localized("Problems"))
        }
        part("passkeys").set("title", localized("Passkeys"))
        part("passkeys")
            .set("description", localized("Websites where you sign in with this computer."))
        let words = localized("Start the prompt that apps show.")
        test = Row(localized("Does it recognize you?"), words)
        testButton = test?
            .addButton(localized("Start Test")) { [weak self] in
                self?.evaluate(localized("test the sensors"))
            }
        if let test { adw_preferences_group_add(part("test").typed(), test.widget.asWidget) }
    }

    private func tell(_ words: String?) {
        part("status").text = words ?? ""
        part("status").isVisible = words != nil
    }

    private func checkAgain() {
        tell(checking)
        settings.checkAgain()
    }

    // MARK: Content

    /// Redraws changed rows only.
    ///
    /// Replacing a row would lose typed text, and clicks that GTK is still handling, for up to a
    /// quarter of a second.
    private func draw() {
        tell(nil)
        let new = settings.content
        let old = drawn
        drawn = new
        if old?.isServiceThere != new.isServiceThere || old?.sensors != new.sensors
            || old?.entries != new.entries || old?.passkeys.isEmpty != new.passkeys.isEmpty
        {
            let focus = gtk_window_get_focus(part("window").asWindow)
            let list = part("sensors")
            let hadFocus = focus.map { gtk_widget_is_ancestor($0, list.asWidget) != 0 } ?? false
            for group in groups { gtk_box_remove(list.asBox, group.asWidget) }
            groups = []
            let usable = new.sensors.filter(\.isAvailable)
            let hasNoTemplate = new.sensors.isEmpty || new.entries.isEmpty && !usable.isEmpty
            let isEmpty = new.passkeys.isEmpty && hasNoTemplate
            part("empty").isVisible = isEmpty
            part("page").isVisible = !isEmpty
            if isEmpty { drawEmptyState(usable) } else { new.sensors.forEach(addGroup) }
            if hadFocus { gtk_widget_child_focus(list.asWidget, GTK_DIR_TAB_FORWARD) }
        } else if old?.problems == new.problems && old?.passkeys == new.passkeys {
            return
        }
        if old?.passkeys != new.passkeys { drawPasskeys() }
        drawProblems()
    }

    private func drawPasskeys() {
        let group = part("passkeys")
        for row in passkeys { adw_preferences_group_remove(group.typed(), row.widget.asWidget) }
        passkeys = settings.content.passkeys.compactMap(row)
        for row in passkeys { adw_preferences_group_add(group.typed(), row.widget.asWidget) }
        group.isVisible = !passkeys.isEmpty
    }

    private func drawProblems() {
        for (group, row) in problems {
            adw_preferences_group_remove(group.typed(), row.widget.asWidget)
        }
        var rows = settings.content.problems.compactMap(row)
        if rows.isEmpty, let row = Row(localized("No problems found"), "") {
            row.show("emblem-ok-symbolic", localized("ok"), size: 16)
            rows = [row]
        }
        let group = part(part("empty").isVisible ? "empty-problems" : "problems")
        group.isVisible = !settings.content.problems.isEmpty || part("page").isVisible
        problems = rows.map { (group, $0) }
        for row in rows { adw_preferences_group_add(group.typed(), row.widget.asWidget) }
    }

    /// Shows why the list is empty, and a button.
    private func drawEmptyState(_ usable: [RemoteSensor]) {
        for button in buttons { gtk_box_remove(part("actions").asBox, button.asWidget) }
        let page = part("empty")
        if !settings.content.isServiceThere {
            page.set("title", localized("Service not found"))
            page.set("description", localized("Ask an administrator to install it."))
        } else if usable.isEmpty {
            page.set("title", localized("No sensor found"))
            let words = localized("Connect a fingerprint reader, a camera or a security key.")
            page.set("description", words)
        } else {
            page.set("title", localized("Nothing added yet"))
            let words = localized("Unlock apps without typing your password.")
            page.set("description", words)
        }
        page.set("icon-name", sensorIcon(usable.first?.biometryType ?? 1))
        buttons = usable.compactMap { sensor in
            let button = Widget(button: sensor.kind.add) { [weak self] in self?.enroll(on: sensor) }
            gtk_widget_set_tooltip_text(button?.asWidget, sensor.title)
            return button
        }
        if usable.isEmpty {
            let button = Widget(button: localized("Try Again")) { [weak self] in
                self?.checkAgain()
            }
            buttons = [button].compactMap(\.self)
        }
        for button in buttons {
            gtk_widget_add_css_class(button.asWidget, "pill")
            gtk_box_append(part("actions").asBox, button.asWidget)
        }
        if !usable.isEmpty, let first = buttons.first {
            gtk_widget_add_css_class(first.asWidget, "suggested-action")
        }
    }

    private func addGroup(_ sensor: RemoteSensor) {
        guard let made = adw_preferences_group_new() else { return }
        let group = Widget(pointer: OpaquePointer(made))
        let entries = settings.content.entries.filter { $0.sensor == sensor }
        let head = Row(sensor.title, sensor.readiness)
        head?.show(sensorIcon(sensor.biometryType), sensor.kind.title)
        if entries.count > 1 {
            let button = head?
                .addButton(localized("Remove All")) { [weak self] in
                    self?
                        .askRemoval(localized("Remove everything?"), of: sensor) {
                            self?.settings.removeAll(from: sensor)
                        }
                }
            button?.setName(localized("Remove all of “%1$s”", sensor.title))
        }
        let add = Row(button: sensor.kind.add) { [weak self] in self?.enroll(on: sensor) }
        add?.widget.isEnabled = sensor.isAvailable
        for row in [head] + entries.map(row) + [add] {
            if let row { adw_preferences_group_add(group.typed(), row.widget.asWidget) }
        }
        gtk_box_append(part("sensors").asBox, group.asWidget)
        groups.append(group)
    }

    private func row(_ entry: Settings.Entry) -> Row? {
        let (kind, title) = (entry.sensor.kind.title, entry.title)
        let row =
            entry.learned != nil
            ? Row(title, "")
            : Row(kind, name: entry.label) { [weak self] in self?.settings.rename(entry, $0) }
        row?
            .addButton(localized("Remove “%1$s”", title), icon: "user-trash-symbolic") {
                [weak self] in
                self?
                    .askRemoval(localized("Remove “%1$s”?", title), of: entry.sensor) {
                        self?.settings.remove(entry)
                    }
            }
        return row
    }

    private func row(_ stored: StoredPasskey) -> Row? {
        let site = plainText(stored.passkey.site, limit: 128)
        let account = plainText(stored.passkey.account, limit: 128)
        let created = localized("Created on %1$s", day(stored.created))
        let words = account.isEmpty ? [created] : [account, created]
        let row = Row(site, words.joined(separator: " · "))
        let title = account.isEmpty ? site : "\(site), \(account)"
        row?
            .addButton(localized("Remove “%1$s”", title), icon: "user-trash-symbolic") {
                [weak self] in
                let body = localized(
                    "You can't sign in to %1$s with this passkey any more. Make sure that you "
                        + "have another way to sign in.",
                    site
                )
                self?
                    .askRemoval(localized("Remove “%1$s”?", title), body) {
                        self?.settings.remove(stored)
                    }
            }
        return row
    }

    private func row(_ problem: Problem) -> Row? {
        let row = Row(problem.message, problem.remedy)
        let icon = problem.isFailure ? "dialog-error-symbolic" : "dialog-warning-symbolic"
        row?.show(icon, problem.stateTitle, size: 16)
        guard let action = problem.action, action != .openUsers || App.users != nil else {
            return row
        }
        row?.addButton(action.title) { [weak self] in self?.act(action) }
        return row
    }

    // MARK: Actions

    private func act(_ action: Problem.Action) {
        switch action {
        case .checkAgain: checkAgain()
        case .enterPassword: evaluate(localized("unlock the sensors"))
        case .openUsers: App.users?.launch()
        case .startPrompts:
            tell(checking)
            onLoop { [weak self] in
                await SettingsRun.startAgent()
                self?.checkAgain()
            }
        }
    }

    private func enroll(on sensor: RemoteSensor) {
        // A second press opens no second window.
        guard enrollment?.isClosed != false else { return }
        do throws(DBusError) {
            enrollment = try EnrollmentWindow(settings, sensor, over: part("window"))
        } catch {
            tell(Settings.sentence(error))
        }
    }

    private func askRemoval(
        _ heading: String,
        of sensor: RemoteSensor,
        _ removal: @escaping @BusActor () -> Void
    ) {
        let body = localized("%1$s will not recognize it any more.", sensor.title)
        askRemoval(heading, body, removal)
    }

    private func askRemoval(
        _ heading: String,
        _ body: String,
        _ removal: @escaping @BusActor () -> Void
    ) {
        guard let made = adw_message_dialog_new(part("window").asWindow, nil, nil) else { return }
        let dialog = Widget(pointer: OpaquePointer(made))
        dialog.set("heading", heading)
        dialog.set("body", body)
        adw_message_dialog_add_response(dialog.typed(), "cancel", localized("Cancel"))
        adw_message_dialog_add_response(dialog.typed(), "remove", localized("Remove"))
        let destructive = ADW_RESPONSE_DESTRUCTIVE
        adw_message_dialog_set_response_appearance(dialog.typed(), "remove", destructive)
        dialog.setName(heading)
        dialog.on("response::remove", removal)
        Display.show(dialog)
    }

    /// Shows a prompt, with its progress and outcome in the row of the test.
    private func evaluate(_ reason: String) {
        testButton?.isEnabled = false
        onLoop { [weak self] in
            let answer = await self?.settings.evaluate(reason) { self?.test?.say($0) }
            self?.test?.say(answer ?? "")
            // The row of the test may be hidden.
            if self?.part("page").isVisible == false { self?.tell(answer) }
            self?.testButton?.isEnabled = true
            self?.settings.checkAgain()
        }
    }

    private func part(_ name: String) -> Widget { parts[name] }
}
#endif

#if Prompt
import AgentKit
import CAdwaita
import DBus
import LocalAuthClient
import Localization
import Windows

/// The window: sensors, what they were taught, a test, and what the diagnosis finds.
@BusActor final class SettingsWindow {
    private let settings: Settings
    private let parts: WindowParts
    private let ended: @BusActor () -> Void
    private var rows: [(group: String, row: Row)] = []
    private var drawn: Settings.Content?
    private var test: Row?
    private var testButton: Widget?
    private var enrollment: EnrollmentWindow?

    /// Shows it; `ended` is called when the person closes it.
    /// - Throws: Failed when the description of the window is none.
    init(_ settings: Settings, ended: @escaping @BusActor () -> Void) throws(DBusError) {
        self.settings = settings
        self.ended = ended
        parts = try WindowParts(PackageResources.settings_ui)
        describe()
        settings.changed = { [weak self] in self?.draw() }
        settings.told = { [weak self] in self?.tell($0) }
        part("window").on("close-request") { [weak self] in self?.ended() }
        part("refresh")
            .on("clicked") { [weak self] in
                self?.tell(nil)
                self?.settings.lookAgain()
            }
        Display.share(part("window")) { [weak settings] in settings?.window = $0 }
        tell(localized("Looking for the service …"))
        Display.show(part("window"))
    }

    /// The window goes.
    func close() {
        enrollment?.close()
        parts.destroy()
    }

    private func describe() {
        gtk_window_set_title(part("window").asWindow, localized("LocalAuthentication Settings"))
        gtk_window_set_icon_name(part("window").asWindow, "localauth-settings")
        let refresh = localized("Look Again")
        part("refresh").setName(refresh)
        gtk_widget_set_tooltip_text(part("refresh").asWidget, refresh)
        part("sensors").set("title", localized("Sensors"))
        part("templates").set("title", localized("What They Know of You"))
        part("test").set("title", localized("Test"))
        part("findings").set("title", localized("What the Diagnosis Finds"))
        addTest()
    }

    private func tell(_ words: String?) {
        part("status").text = words ?? ""
        part("status").isVisible = words != nil
    }

    // MARK: Rows

    /// Rows that say what they said before stay: with them what is typed, and a press, which GTK
    /// takes a quarter of a second for.
    private func draw() {
        tell(nil)
        let content = settings.content
        if drawn?.sensors != content.sensors || drawn?.lessons != content.lessons {
            removeRows(of: ["sensors", "templates"])
            for sensor in content.sensors { addSensor(sensor) }
            if content.sensors.isEmpty { add(Row(localized("No sensor."), ""), to: "sensors") }
            for lesson in content.lessons { addLesson(lesson) }
            if content.lessons.isEmpty {
                let words = localized("Nothing yet: add a finger or a face above.")
                add(Row(words, ""), to: "templates")
            }
        }
        if drawn?.findings != content.findings {
            removeRows(of: ["findings"])
            for finding in content.findings { addFinding(finding) }
        }
        drawn = content
    }

    private func removeRows(of groups: Set<String>) {
        for (group, row) in rows where groups.contains(group) {
            adw_preferences_group_remove(asGroup(group), row.widget.asWidget)
        }
        rows.removeAll { groups.contains($0.group) }
    }

    private func add(_ row: Row?, to group: String) {
        guard let row else { return }
        adw_preferences_group_add(asGroup(group), row.widget.asWidget)
        rows.append((group, row))
    }

    private func addSensor(_ sensor: RemoteSensor) {
        let kind = biometryTitle(sensor.biometryType)
        let words = [kind, strengthTitle(sensor.strength), sensor.stateTitle]
        let row = Row(sensor.title, words.joined(separator: ", "))
        row?.show(sensorIcon(sensor.biometryType), kind)
        let button = row?
            .addButton(localized("Add…")) { [weak self] in self?.enroll(on: sensor) }
        button?.isEnabled = sensor.isAvailable
        if settings.content.lessons.count(where: { $0.sensor == sensor }) > 1 {
            let title = localized("Remove all of “%1$s”", sensor.title)
            row?
                .addButton(title, icon: "user-trash-symbolic") { [weak self] in
                    self?
                        .askRemoval(localized("Remove everything?"), sensor) {
                            self?.settings.removeAll(from: sensor)
                        }
                }
        }
        add(row, to: "sensors")
    }

    private func addLesson(_ lesson: Settings.Lesson) {
        let name = lesson.label.isEmpty ? localized("Without a name") : lesson.label
        let label = lesson.learned == nil ? name : localized("Learned of %1$s", name)
        let row = Row(label, lesson.sensor.title)
        row?.show(sensorIcon(lesson.sensor.biometryType), biometryTitle(lesson.sensor.biometryType))
        if lesson.learned == nil { addName(of: lesson, label, to: row) }
        let remove = localized("Remove “%1$s”", label)
        row?
            .addButton(remove, icon: "user-trash-symbolic") { [weak self] in
                self?
                    .askRemoval(localized("Remove “%1$s”?", label), lesson.sensor) {
                        self?.settings.remove(lesson)
                    }
            }
        add(row, to: "templates")
    }

    /// The field for another name; what was learned by itself has none.
    private func addName(of lesson: Settings.Lesson, _ label: String, to row: Row?) {
        let rename: @BusActor (String) -> Void = { [weak self] text in
            guard text != lesson.label else { return }
            self?.settings.rename(lesson, text)
        }
        let field = row?.addField(lesson.label, localized("Name of “%1$s”", label), rename)
        row?
            .addButton(localized("Rename “%1$s”", label), icon: "document-edit-symbolic") {
                if let field { rename(field.content) }
            }
    }

    private func addFinding(_ finding: Finding) {
        var words = serviceText(finding.message)
        if finding.needsRemedy {
            words += "\n" + localized("Next: %1$s", serviceText(finding.remedy))
        }
        let row = Row(finding.name, words)
        let icon =
            switch finding.state {
            case "ok": "emblem-ok-symbolic"
            case "warning": "dialog-warning-symbolic"
            default: "dialog-error-symbolic"
            }
        row?.show(icon, finding.stateTitle)
        add(row, to: "findings")
    }

    // MARK: What the person does

    private func enroll(on sensor: RemoteSensor) {
        // Pressed twice it is one window.
        guard enrollment?.isClosed != false else { return }
        do throws(DBusError) {
            enrollment = try EnrollmentWindow(settings, sensor, over: part("window"))
        } catch {
            tell(Settings.sentence(error))
        }
    }

    private func askRemoval(
        _ heading: String,
        _ sensor: RemoteSensor,
        _ removal: @escaping @BusActor () -> Void
    ) {
        let body = localized("%1$s will not recognize it any more.", sensor.title)
        guard let made = adw_message_dialog_new(part("window").asWindow, nil, nil) else { return }
        let dialog = Widget(pointer: OpaquePointer(made))
        // The same object, by its other name.
        let message = UnsafeMutablePointer<AdwMessageDialog>(dialog.pointer)
        dialog.set("heading", heading)
        dialog.set("body", body)
        adw_message_dialog_add_response(message, "cancel", localized("Cancel"))
        adw_message_dialog_add_response(message, "remove", localized("Remove"))
        adw_message_dialog_set_response_appearance(message, "remove", ADW_RESPONSE_DESTRUCTIVE)
        dialog.setName(heading)
        dialog.on("response::remove", removal)
        Display.show(dialog)
    }

    private func addTest() {
        let title = localized("Is it you?")
        let row = Row(title, localized("Asks as an app does: by a sensor or the password."))
        testButton = row?.addButton(localized("Start Test")) { [weak self] in self?.runTest() }
        test = row
        if let row { adw_preferences_group_add(asGroup("test"), row.widget.asWidget) }
    }

    private func runTest() {
        testButton?.isEnabled = false
        onLoop { [weak self] in
            let answer = await self?.settings.test { self?.test?.say($0) }
            self?.test?.say(answer ?? "")
            self?.testButton?.isEnabled = true
        }
    }

    // MARK: Parts of the window

    private func part(_ name: String) -> Widget { parts[name] }

    // GTK's name for what is one object to it.
    private func asGroup(_ name: String) -> UnsafeMutablePointer<AdwPreferencesGroup> {
        // As above.
        UnsafeMutablePointer(part(name).pointer)
    }
}
#endif

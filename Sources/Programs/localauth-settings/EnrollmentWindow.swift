#if Prompt
import AgentKit
import CAdwaita
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Windows

/// The window that adds a fingerprint or a face: shows stages and hints.
@BusActor final class EnrollmentWindow {
    private let settings: Settings
    private let sensor: RemoteSensor
    private let parts: WindowParts
    private var call: StreamingCall<String>?
    private var stages: [Widget] = []
    private var hint = ""
    private var isDone = false
    private(set) var isClosed = false

    init(_ settings: Settings, _ sensor: RemoteSensor, over parent: Widget) throws(DBusError) {
        self.settings = settings
        self.sensor = sensor
        parts = try WindowParts(PackageResources.enrollment_ui)
        describe()
        part("window").on("close-request") { [weak self] in self?.close() }
        part("cancel").on("clicked") { [weak self] in self?.close() }
        part("primary").on("clicked") { [weak self] in self?.performPrimaryAction() }
        part("name").on("activate") { [weak self] in self?.performPrimaryAction() }
        part("window")
            .onKey { [weak self] key in
                guard key == UInt32(GDK_KEY_Escape) else { return false }
                self?.close()
                return true
            }
        gtk_window_set_transient_for(part("window").asWindow, parent.asWindow)
        Display.show(part("window"))
        part("name").takeFocus()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        if call != nil { settings.cancelEnrollment(sensor) }
        parts.destroy()
    }

    private func describe() {
        let title = sensor.kind.add
        gtk_window_set_title(part("window").asWindow, title)
        part("title").text = title
        part("name-label").text = localized("Name (optional)")
        gtk_button_set_label(part("cancel").typed(), localized("Cancel"))
        gtk_button_set_label(part("primary").typed(), localized("Add"))
        part("status").text = localized("You may be asked for your password first.")
        show(sensorIcon(sensor.biometryType), sensor.kind.title)
        show(stage: 0, of: sensor.enrollStages)
    }

    private func show(_ icon: String, _ name: String) {
        gtk_image_set_from_icon_name(part("picture").pointer, icon)
        part("picture").setName(name)
    }

    /// Shows a picture for each stage, or for each done stage if their number is unknown.
    private func show(stage: UInt32, of count: Int32) {
        let done = Int(clamping: min(stage, 64))
        let all = max(done, Int(min(count, 64)))
        let grid = part("stages")
        for image in stages { gtk_grid_remove(grid.typed(), image.asWidget) }
        stages = []
        for number in 0..<all {
            let isDone = number < done
            let icon = isDone ? "emblem-ok-symbolic" : sensorIcon(sensor.biometryType)
            guard let made = gtk_image_new_from_icon_name(icon) else { continue }
            let image = Widget(pointer: OpaquePointer(made))
            gtk_image_set_pixel_size(image.pointer, 16)
            gtk_widget_add_css_class(image.asWidget, "localauth-stage")
            if isDone { gtk_widget_add_css_class(image.asWidget, "done") }
            image.setName(
                isDone
                    ? localized("Stage %1$s: done", "\(number + 1)")
                    : localized("Stage %1$s: to come", "\(number + 1)")
            )
            // The narrowest window has room for eight pictures in a row.
            let (row, column) = gint(number).quotientAndRemainder(dividingBy: 8)
            gtk_grid_attach(grid.typed(), image.asWidget, column, row, 1, 1)
            stages.append(image)
        }
    }

    // MARK: User input

    private func performPrimaryAction() {
        guard call == nil else { return }
        if isDone { return close() }
        do throws(DBusError) {
            let call = try settings.enroll(sensor, label: part("name").content)
            self.call = call
            part("name-box").isVisible = false
            part("primary").isVisible = false
            show(stage: 0, of: sensor.enrollStages)
            onLoop { [weak self] in
                for await event in call.events { self?.take(event) }
            }
            onLoop { [weak self] in
                do throws(DBusError) {
                    _ = try await call.reply()
                    self?.end(nil)
                } catch {
                    self?.end(error)
                }
            }
        } catch {
            part("status").text = Settings.sentence(error)
        }
    }

    // MARK: Progress from the sensor

    private func take(_ event: StreamEvent) {
        guard !isClosed else { return }
        if let words = enrollingSentence(event, of: sensor) {
            part("status").text = Settings.plain(words)
        }
        switch SensorEventKind(rawValue: event.kind) {
        case .stage:
            show(
                stage: event.detail["stage"]?.asUInt32 ?? 0,
                of: event.detail["stages"]?.asInt32 ?? -1
            )
            illustrate("")
        case .hint:
            illustrate(event.detail["hint"]?.asString ?? "")
        default:
            break
        }
    }

    private func illustrate(_ new: String) {
        let picture = part("picture").asWidget
        if !hint.isEmpty { gtk_widget_remove_css_class(picture, hint) }
        let known: [SensorHint] = [
            .turnLeft, .turnRight, .moveCloser, .moveAway, .liftAndRetry, .center,
        ]
        hint = known.contains { $0.rawValue == new } ? new : ""
        if !hint.isEmpty { gtk_widget_add_css_class(picture, hint) }
    }

    private func end(_ error: DBusError?) {
        call = nil
        settings.checkAgain()
        guard !isClosed else { return }
        illustrate("")
        isDone = error == nil
        part("status").text = error.map(Settings.sentence) ?? sensor.kind.added
        if isDone { show("emblem-ok-symbolic", localized("Success")) }
        gtk_button_set_label(
            part("primary").typed(),
            isDone ? localized("Done") : localized("Try Again")
        )
        part("primary").isVisible = true
        part("cancel").isVisible = !isDone
        part("name-box").isVisible = !isDone
        if isDone { part("primary").takeFocus() }
    }

    private func part(_ name: String) -> Widget { parts[name] }
}
#endif

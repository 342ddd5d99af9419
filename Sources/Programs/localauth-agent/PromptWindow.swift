#if Prompt
import AgentKit
import CAdwaita
import DBus
import Localization
import Windows

/// The window of one prompt.
@BusActor final class PromptWindow {
    /// So long after it appears keys and clicks are for whoever had them before: nobody can mean a
    /// window that they have not seen yet.
    static let settling = Duration.milliseconds(400)
    /// The width of what is in the window, in points.
    private static let width: gint = 380

    private let prompt: Prompt
    private var state: PromptState
    private let parts: WindowParts
    private var isSettling = true
    /// How often it has begun to settle.
    private var settlings = 0
    private var hasBeenActive = false
    private var hasOfferedConfirmation = false
    /// Whether the last letter did not fit.
    private var hasOverflowed = false
    /// What has the focus once the window has settled: what had it before.
    private var chosen = "primary"
    private var timers: [EventSource] = []
    private var sensorImages: [Widget] = []

    /// Draws a prompt, and shows it.
    /// - Throws: Failed when the memory for a passcode can't be locked.
    init(_ prompt: Prompt, _ state: PromptState) throws(DBusError) {
        self.prompt = prompt
        self.state = state
        parts = try WindowParts(PackageResources.prompt_ui)
        try SecretBuffer.use(in: part("secret"))
        SecretBuffer.changed = { [weak self] in self?.typed(fits: $0) }
        describe()
        listen()
        draw()
        present()
    }

    // MARK: What the service says

    /// Something happened.
    func take(_ progress: PromptProgress) {
        let old = state
        hasOverflowed = false
        state.take(progress)
        let new = state
        if old.asksApplicationPassword != new.asksApplicationPassword { clearSecret() }
        if new.canConfirm && !old.canConfirm {
            // Enter means something else from now on, and what was begun is not needed any more.
            clearSecret()
            chosen = "primary"
            settle()
        }
        draw()
        if new.takesSecret && !old.showsSecret { takeKeyboard() }
        // Other news leave the keys where the person has them.
        let asksAnew = old.asksApplicationPassword != new.asksApplicationPassword
        if new.takesSecret && (!old.takesSecret || asksAnew) { part("secret").takeKeys() }
    }

    /// Gives the keyboard back and takes nothing any more; the last words may stay for a moment.
    func end(_ outcome: PromptOutcome) {
        clearSecret()
        state.end(outcome)
        releaseKeyboard()
        draw()
    }

    /// The window goes.
    func close() {
        for timer in timers { timer.cancel() }
        timers = []
        clearSecret()
        releaseKeyboard()
        parts.destroy()
    }

    // MARK: What the person does

    private func listen() {
        window.on("close-request") { [weak self] in self?.cancel() }
        part("cancel").on("clicked") { [weak self] in self?.cancel() }
        part("fallback").on("clicked") { [weak self] in self?.fallBack() }
        part("primary").on("clicked") { [weak self] in self?.goOn() }
        part("secret").on("activate") { [weak self] in self?.enter() }
        part("details").on("notify::expanded") { [weak self] in self?.fit() }
        window.onKey { [weak self] in self?.take($0) ?? false }
    }

    /// Keys that mean the whole window; true: nobody else gets it.
    private func take(_ key: UInt32) -> Bool {
        if isSettling { return true }
        switch Int32(bitPattern: key) {
        case GDK_KEY_Escape: cancel()
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: scroll(by: -1)
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: scroll(by: 1)
        default: return false
        }
        return true
    }

    /// What is above the buttons may be longer than there is room for.
    private func scroll(by pages: Double) {
        let place = gtk_scrolled_window_get_vadjustment(part("scroll").pointer)
        let step = gtk_adjustment_get_page_increment(place)
        gtk_adjustment_set_value(place, gtk_adjustment_get_value(place) + pages * step)
    }

    private func cancel() {
        guard !isSettling else { return }
        clearSecret()
        prompt.cancel()
    }

    private func fallBack() {
        guard state.canFallBack else { return }
        state.answered()
        prompt.fallBack()
        draw()
    }

    /// What the button says.
    private func goOn() {
        if state.canConfirm { confirm() } else { submit() }
    }

    /// Enter in the field: whoever types when a match waits to be confirmed means what they type.
    private func enter() {
        if SecretBuffer.isEmpty { confirm() } else { submit() }
    }

    private func confirm() {
        guard !isSettling, state.canConfirm else { return }
        state.answered()
        prompt.confirm()
        draw()
        if state.takesSecret { part("secret").takeKeys() }
    }

    private func submit() {
        guard !isSettling, state.takesSecret, !SecretBuffer.isEmpty else { return }
        var isSent = false
        do throws(DBusError) {
            try SecretBuffer.send(to: prompt)
            isSent = true
        } catch {
            // Why is for logs; the person can only type it again.
        }
        clearSecret()
        state.submitted(isSent)
        draw()
    }

    private func typed(fits: Bool) {
        hasOverflowed = !fits
        drawWords()
        drawPrimary()
    }

    private func clearSecret() {
        gtk_editable_set_text(part("secret").pointer, "")
        SecretBuffer.wipe()
        hasOverflowed = false
    }

    // MARK: Drawing

    private func describe() {
        let details = state.details
        gtk_window_set_title(window.asWindow, PromptText.heading)
        part("heading").text = PromptText.heading
        part("reason").text = PromptText.question(details)
        let claim = PromptText.claim(details)
        part("origin").text = PromptText.origin(details)
        part("claim").text = claim ?? ""
        part("claim").isVisible = claim != nil
        gtk_expander_set_label(part("details").pointer, localized("_Details"))
        part("details").setName(localized("Details"))
        // A long path is cut above.
        let facts = [PromptText.origin(details)] + PromptText.facts(details)
        part("facts").text = facts.joined(separator: "\n")
        showIcon(details.appIcon, PromptText.appTitle(details))
        // Most programs are neither verified nor unusual.
        let isHidden = details.isSandboxed ? details.sandboxID.isEmpty : details.program == nil
        part("warning").isVisible = isHidden || claim != nil
        part("warning").setName(localized("Warning"))
        // A title of the app's is plain text: no underscore of it is a mnemonic.
        if let title = details.cancelTitle {
            part("cancel-label").setMnemonic(plainMnemonic(title), for: part("cancel"))
            gtk_widget_set_tooltip_text(part("cancel").asWidget, title)
        } else {
            part("cancel-label").setMnemonic(localized("_Cancel"), for: part("cancel"))
        }
        if let title = details.fallbackTitle {
            part("fallback-label").setMnemonic(plainMnemonic(title), for: part("fallback"))
            gtk_widget_set_tooltip_text(part("fallback").asWidget, title)
        } else {
            part("fallback-label").setMnemonic(localized("Use _Another Way"), for: part("fallback"))
        }
    }

    private func showIcon(_ icon: String, _ name: String) {
        let image = part("icon")
        if icon.hasPrefix("/usr/share/") {
            gtk_image_set_from_file(image.pointer, icon)
        } else {
            let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(window.asWidget))
            let isKnown = !icon.isEmpty && gtk_icon_theme_has_icon(theme, icon) != 0
            let shown = isKnown ? icon : "application-x-executable"
            gtk_image_set_from_icon_name(image.pointer, shown)
        }
        image.setName(localized("Icon of %1$s", name))
    }

    private func draw() {
        drawSensors()
        drawWords()
        SecretBuffer.limit = state.longestSecret
        part("secret-box").isVisible = state.showsSecret && !state.isOver
        let label = PromptText.passcodeLabel(
            state.details,
            asksApplicationPassword: state.asksApplicationPassword
        )
        part("secret-label").setMnemonic(plainMnemonic(label), for: part("secret"))
        part("secret").isEditable = state.takesSecret && !isSettling
        let isAnswerable = !state.isOver && !isSettling
        part("cancel").isEnabled = isAnswerable
        show(part("fallback"), state.canFallBack)
        part("fallback").isEnabled = isAnswerable
        let hasPrimary = (state.showsSecret || state.canConfirm) && !state.isOver
        show(part("primary"), hasPrimary)
        drawPrimary()
        part("primary-label")
            .setMnemonic(
                state.canConfirm ? localized("C_onfirm") : localized("_Authenticate"),
                for: part("primary")
            )
        // Once: whoever has gone on to another button is not taken back.
        let offersConfirmation = state.canConfirm && isAnswerable
        if offersConfirmation, !hasOfferedConfirmation, chosen != "secret" {
            part(chosen).takeFocus()
        }
        hasOfferedConfirmation = offersConfirmation
        fit()
    }

    private func drawWords() {
        part("invitation").text = state.invitation
        part("invitation").isVisible = !state.invitation.isEmpty
        let words = hasOverflowed ? localized("The password cannot be longer.") : state.words
        part("status").text = words
    }

    private func drawPrimary() {
        let canSubmit = state.takesSecret && !SecretBuffer.isEmpty
        part("primary").isEnabled =
            !state.isOver && !isSettling && (canSubmit || state.canConfirm)
    }

    /// Stacks the buttons where their titles need more room, with the primary button on top.
    private func layOutButtons() {
        let names = ["cancel", "fallback", "primary"].filter { part($0).isVisible }
        let widest = names.map { part($0).naturalWidth }.max() ?? 0
        let isRow = (widest + 12) * gint(names.count) - 12 <= Self.width
        let direction = isRow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
        let buttons = part("buttons")
        guard gtk_orientable_get_orientation(buttons.pointer) != direction else { return }
        gtk_orientable_set_orientation(buttons.pointer, direction)
        for name in isRow ? ["fallback", "primary"] : ["fallback", "cancel"] {
            let last = gtk_widget_get_last_child(buttons.asWidget)
            gtk_box_reorder_child_after(buttons.asBox, part(name).asWidget, last)
        }
    }

    /// The height that a screen leaves for the reason, in points.
    private var roomForReason: gint {
        let all = part("content").naturalHeight(Self.width)
        let others = all - part("scroll").naturalHeight(Self.width)
        // A desktop has panels, and the window has margins and a frame.
        return Display.leastHeight.map { min($0 - 64 - 60 - others, 400) } ?? 400
    }

    /// Lets the reason scroll where a low screen has no room for it.
    private func fit() {
        layOutButtons()
        part("icon").isVisible = true
        // A very low screen has no room for a picture.
        if roomForReason < 48 { part("icon").isVisible = false }
        let room = max(roomForReason, 48)
        // The scrolled part measures a text as if it had one line.
        let wanted = part("reason").naturalHeight(Self.width)
        let scroll = part("scroll").pointer
        gtk_scrolled_window_set_policy(
            scroll,
            GTK_POLICY_NEVER,
            wanted > room ? GTK_POLICY_AUTOMATIC : GTK_POLICY_EXTERNAL
        )
        gtk_scrolled_window_set_min_content_height(scroll, -1)
        gtk_scrolled_window_set_max_content_height(scroll, min(wanted, room))
        gtk_scrolled_window_set_min_content_height(scroll, min(wanted, room))
    }

    /// A button that goes gives its focus to nobody: GTK would give it to Cancel, and whoever
    /// presses Enter once more would cancel what they have just confirmed.
    private func show(_ button: Widget, _ isVisible: Bool) {
        if !isVisible, gtk_widget_is_focus(button.asWidget) != 0 {
            gtk_window_set_focus(window.asWindow, nil)
        }
        button.isVisible = isVisible
    }

    private func drawSensors() {
        let box = part("sensors")
        for image in sensorImages { gtk_box_remove(box.asBox, image.asWidget) }
        sensorImages = []
        var pictures = state.sensors.map { sensor in
            (
                sensorIcon(sensor.biometryType), PromptText.sensorName(sensor.biometryType),
                sensor.isReady
            )
        }
        if state.mood == .recognized {
            pictures = [("emblem-ok-symbolic", localized("Success"), false)]
        } else if state.mood == .locked {
            pictures = [("system-lock-screen-symbolic", localized("Locked"), false)]
        } else if state.isOver {
            pictures = [("dialog-error-symbolic", localized("Failure"), false)]
        }
        for (picture, name, isReady) in pictures {
            guard let made = gtk_image_new_from_icon_name(picture) else { continue }
            let image = Widget(pointer: OpaquePointer(made))
            gtk_image_set_pixel_size(image.pointer, 32)
            gtk_widget_add_css_class(image.asWidget, "localauth-sensor")
            gtk_widget_add_css_class(image.asWidget, Self.style(state.mood, isReady))
            image.setName(name)
            gtk_box_append(box.asBox, image.asWidget)
            sensorImages.append(image)
        }
        box.isVisible = !pictures.isEmpty
    }

    private static func style(_ mood: PromptState.Mood, _ isReady: Bool) -> String {
        switch mood {
        case .asking: isReady ? "ready" : "waiting"
        case .failed: "failed"
        case .recognized: "recognized"
        case .locked: "locked"
        }
    }

    // MARK: Appearing

    private func present() {
        let details = state.details
        window.on("map") { [weak self] in self?.isMapped() }
        window.on("notify::is-active") { [weak self] in self?.activityChanged() }
        gtk_widget_realize(window.asWidget)
        Display.setParent(of: window, details.parentWindow)
        Display.setActivation(of: window, details.activationToken)
        Display.keepAbove(window)
        Display.present(window)
        if state.takesSecret { part("secret").takeFocus() }
    }

    private func isMapped() {
        settle()
        takeKeyboard()
    }

    /// Keys come once it is active, which may be long after it was mapped.
    ///
    /// An app could take the keys and give them back between two presses of Enter, of which the
    /// second would confirm.
    private func activityChanged() {
        if !hasBeenActive || state.canConfirm, gtk_window_is_active(window.asWindow) != 0 {
            if hasBeenActive, !isSettling {
                chosen = ["secret", "cancel", "fallback"].first(where: hasFocus) ?? "primary"
            }
            hasBeenActive = true
            settle()
        }
        takeKeyboard()
    }

    /// A field has another widget in it, which has the keys.
    private func hasFocus(_ name: String) -> Bool {
        guard let focus = gtk_window_get_focus(window.asWindow) else { return false }
        let widget = part(name).asWidget
        return focus == widget || gtk_widget_is_ancestor(focus, widget) != 0
    }

    private func settle() {
        isSettling = true
        settlings += 1
        let number = settlings
        draw()
        timers.append(
            EventLoop.shared.schedule(after: Self.settling) { [weak self] in
                // On a busy machine a key of that time may still be on its way.
                GLibLoop.afterInput {
                    guard let self, !self.timers.isEmpty, self.settlings == number
                    else { return }
                    self.isSettling = false
                    self.draw()
                }
            }
        )
    }

    /// While a secret is asked for no other window gets a key, where the display server allows it.
    private func takeKeyboard() {
        guard state.takesSecret, !state.isOver else { return }
        guard !Display.grabKeyboard(for: window) else { return }
        // Another window has it, a menu perhaps.
        timers.append(
            EventLoop.shared.schedule(after: .milliseconds(200)) { [weak self] in
                self?.takeKeyboard()
            }
        )
    }

    private func releaseKeyboard() { Display.releaseKeyboard(of: window) }

    // MARK: Parts of the window

    private var window: Widget { part("window") }

    private func part(_ name: String) -> Widget { parts[name] }

    /// A text in which no underscore is a mnemonic.
    private func plainMnemonic(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
#endif

#if Prompt
import AgentKit
import CAdwaita
import DBus
import Localization
import Windows

@BusActor final class PromptWindow {
    /// Time after the window appears in which it ignores keys and clicks.
    ///
    /// They are meant for the window that had the focus before.
    static let settling = Duration.milliseconds(400)
    /// The content's width, in points.
    private static let width: gint = 380

    private let prompt: Prompt
    private var state: PromptState
    private let parts: WindowParts
    private var isSettling = true
    /// Counts calls of ``settle()``, so that an earlier timer does not end a later one.
    private var settlings = 0
    private var hasBeenActive = false
    private var hasOfferedConfirmation = false
    private var hasOverflowed = false
    /// Name of the part that gets the focus once the window has settled: the part that had it
    /// before.
    private var focusAfterSettling = "primary"
    private var timers: [EventSource] = []
    private var sensorImages: [Widget] = []

    /// Draws and shows a prompt.
    ///
    /// - Throws: `Failed` when the memory for a password can't be locked.
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

    // MARK: Progress from the service

    func take(_ progress: PromptProgress) {
        let old = state
        hasOverflowed = false
        state.apply(progress)
        let new = state
        if old.asksApplicationPassword != new.asksApplicationPassword { clearSecret() }
        if new.canConfirm && !old.canConfirm {
            // From here on Enter means "confirm", and a half-typed password is obsolete.
            clearSecret()
            focusAfterSettling = "primary"
            settle()
        }
        draw()
        if new.takesSecret && !old.showsSecret { takeKeyboard() }
        // Other progress must not move the keyboard focus.
        let asksAnew = old.asksApplicationPassword != new.asksApplicationPassword
        if new.takesSecret && (!old.takesSecret || asksAnew) { part("secret").takeKeys() }
    }

    /// Ends input and releases the keyboard; a final message may stay visible for a moment.
    func end(_ outcome: PromptOutcome) {
        clearSecret()
        state.end(outcome)
        releaseKeyboard()
        draw()
    }

    func close() {
        for timer in timers { timer.cancel() }
        timers = []
        clearSecret()
        releaseKeyboard()
        parts.destroy()
    }

    // MARK: User input

    private func listen() {
        window.on("close-request") { [weak self] in self?.cancel() }
        part("cancel").on("clicked") { [weak self] in self?.cancel() }
        part("fallback").on("clicked") { [weak self] in self?.fallBack() }
        part("primary").on("clicked") { [weak self] in self?.performPrimaryAction() }
        part("secret").on("activate") { [weak self] in self?.enter() }
        part("details").on("notify::expanded") { [weak self] in self?.fit() }
        window.onKey { [weak self] in self?.take($0) ?? false }
    }

    /// Handles keys for the whole window; true stops their propagation.
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

    /// Scrolls the text above the buttons, which may be taller than the screen allows.
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
        state.withdrawOffers()
        prompt.fallBack()
        draw()
    }

    private func performPrimaryAction() {
        if state.canConfirm { confirm() } else { submit() }
    }

    /// Handles Enter in the field: typed text is submitted even while a match waits for
    /// confirmation.
    private func enter() {
        if SecretBuffer.isEmpty { confirm() } else { submit() }
    }

    private func confirm() {
        guard !isSettling, state.canConfirm else { return }
        state.withdrawOffers()
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
            // The cause does not help the user, who can only type the password again.
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
        part("reason").text = PromptText.requestSentence(details)
        let claim = PromptText.claimedRequester(details)
        part("origin").text = PromptText.origin(details)
        part("claim").text = claim ?? ""
        part("claim").isVisible = claim != nil
        gtk_expander_set_label(part("details").pointer, localized("_Details"))
        part("details").setName(localized("Details"))
        // The label above shortens a long path, so the details repeat it in full.
        let facts = [PromptText.origin(details)] + PromptText.facts(details)
        part("facts").text = facts.joined(separator: "\n")
        showIcon(details.appIcon, PromptText.appTitle(details))
        // Warn about hidden programs and unproven claims only: most programs are neither verified
        // nor unusual.
        let isHidden = details.isSandboxed ? details.sandboxID.isEmpty : details.program == nil
        part("warning").isVisible = isHidden || claim != nil
        part("warning").setName(localized("Warning"))
        // The app's title is plain text: its underscores are no mnemonics.
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
        // Move the focus only once. A user who has moved it to another button since keeps it there.
        let offersConfirmation = state.canConfirm && isAnswerable
        if offersConfirmation, !hasOfferedConfirmation, focusAfterSettling != "secret" {
            part(focusAfterSettling).takeFocus()
        }
        hasOfferedConfirmation = offersConfirmation
        fit()
    }

    private func drawWords() {
        part("invitation").text = state.invitation
        part("invitation").isVisible = !state.invitation.isEmpty
        let words = hasOverflowed ? localized("The password cannot be longer.") : state.statusText
        part("status").text = words
    }

    private func drawPrimary() {
        let canSubmit = state.takesSecret && !SecretBuffer.isEmpty
        part("primary").isEnabled =
            !state.isOver && !isSettling && (canSubmit || state.canConfirm)
    }

    /// Stacks the buttons, primary button on top, where their titles need more width.
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

    /// The height that the smallest screen leaves for the reason, in points.
    private var roomForReason: gint {
        let all = part("content").naturalHeight(Self.width)
        let others = all - part("scroll").naturalHeight(Self.width)
        // 64 points for a desktop's panels, 60 for the window's margins and frame.
        return Display.leastHeight.map { min($0 - 64 - 60 - others, 400) } ?? 400
    }

    /// Makes the reason scroll where a low screen can't show all of it.
    private func fit() {
        layOutButtons()
        part("icon").isVisible = true
        // A very low screen has no room for a picture.
        if roomForReason < 48 { part("icon").isVisible = false }
        let room = max(roomForReason, 48)
        // GTK measures a label in a scrolled window as if it had one line.
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

    /// Shows or hides a button, and clears the focus of a hidden button.
    ///
    /// GTK would move that focus to Cancel, so a second press of Enter would cancel what the user
    /// just confirmed.
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

    /// Starts settling when the window becomes active, possibly long after it was mapped.
    ///
    /// While a match waits for confirmation, every activation settles again. Otherwise an app could
    /// take and return the focus between two presses of Enter, and the second press would confirm.
    private func activityChanged() {
        if !hasBeenActive || state.canConfirm, gtk_window_is_active(window.asWindow) != 0 {
            if hasBeenActive, !isSettling {
                focusAfterSettling =
                    ["secret", "cancel", "fallback"].first(where: hasFocus) ?? "primary"
            }
            hasBeenActive = true
            settle()
        }
        takeKeyboard()
    }

    /// Checks ancestors too: a focused field gives the focus to its inner text widget.
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
                // On a busy machine, keys pressed during that time may still be queued.
                GLibLoop.afterInput {
                    guard let self, !self.timers.isEmpty, self.settlings == number
                    else { return }
                    self.isSettling = false
                    self.draw()
                }
            }
        )
    }

    /// Grabs the keyboard while a secret is typed, where the display server allows it.
    private func takeKeyboard() {
        guard state.takesSecret, !state.isOver else { return }
        guard !Display.grabKeyboard(for: window) else { return }
        // Another window, perhaps a menu, holds the grab: try again.
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

    /// Escapes underscores, so that none becomes a mnemonic.
    private func plainMnemonic(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
#endif

public import DBus
import Glibc
internal import Localization

/// Shows prompts on a terminal, one at a time, in order.
///
/// Input is not echoed. Enter sends the password; an empty line confirms or takes the fallback,
/// whichever is on offer. ^C cancels. Keys are ignored while no input is asked for.
@BusActor public final class TerminalPrompt: PromptView {
    private final class Shown {
        let prompt: Prompt
        let terminal: Terminal
        var state: PromptState
        var line: SecretLine
        /// Whether the next input is the rest of a line that was wiped.
        var dropsLine = false
        var keys = KeyReader()
        var source: EventSource?

        init(
            _ prompt: Prompt,
            _ state: PromptState,
            _ terminal: Terminal,
            _ line: consuming SecretLine
        ) {
            self.prompt = prompt
            self.state = state
            self.terminal = terminal
            self.line = line
        }
    }

    private let path: String
    private var shown: Shown?
    private var waiting: [(prompt: Prompt, state: PromptState)] = []

    /// Creates a view that opens the terminal for each prompt and closes it afterwards.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// Whether the terminal can be opened.
    public var isUsable: Bool { (try? Terminal(path: path)) != nil }

    public var isShowing: Bool { shown != nil }

    /// Shows a prompt, or queues it behind earlier prompts.
    ///
    /// - Throws: Failed without a usable terminal.
    public func begin(_ prompt: Prompt) throws(DBusError) {
        let state = PromptState(prompt.details)
        guard shown == nil else { return waiting.append((prompt, state)) }
        try show(prompt, state)
    }

    private func show(_ prompt: Prompt, _ state: PromptState) throws(DBusError) {
        let shown = Shown(prompt, state, try Terminal(path: path), try SecretLine())
        try shown.terminal.take()
        self.shown = shown
        shown.source = EventLoop.shared.watch(descriptor: shown.terminal.descriptor) {
            [weak self] in
            self?.readKeys()
        }
        let details = prompt.details
        let cancel = plainText(details.cancelTitle ?? localized("cancel"), limit: 64)
        let keys = localized("Ctrl-C: %1$s.", cancel)
        let claim = PromptText.claimedRequester(details).map { [$0] } ?? []
        let known = [state.invitation, state.statusText].filter { !$0.isEmpty }
        let words = known.isEmpty ? PromptText.invitation(details) : known.joined(separator: "\n")
        let lines =
            [PromptText.requestSentence(details), PromptText.origin(details)] + claim
            + PromptText.facts(details) + ["\(words) \(keys)"]
        shown.terminal.write("\n\(lines.map(shown.terminal.wrapped).joined(separator: "\n"))\n")
        if state.canFallBack { offerFallback(shown) }
        ask(shown)
    }

    /// Prints the event and the choices, or records the event for a queued prompt.
    public func update(_ prompt: Prompt, _ progress: PromptProgress) {
        if let index = waiting.firstIndex(where: { $0.prompt === prompt }) {
            waiting[index].state.apply(progress)
        }
        guard let shown, shown.prompt === prompt else { return }
        let old = shown.state
        shown.state.apply(progress)
        if progress.asksForKeys, !old.takesSecret { shown.terminal.dropInput() }
        let asksOther = shown.state.asksApplicationPassword != old.asksApplicationPassword
        if asksOther || (shown.state.canConfirm && !old.canConfirm) {
            // The user may still be typing the rest of the line.
            shown.dropsLine = shown.state.canConfirm && !shown.line.isEmpty
            // A half-typed line must not become another secret, nor the Enter that confirms.
            shown.terminal.dropInput()
            shown.line.wipe()
        }
        if progress == .fallbackAvailable {
            guard shown.state.canFallBack else { return }
            offerFallback(shown)
        }
        let instructions = prompt.details.instructions
        if let sentence = PromptText.sentence(progress, instructions: instructions) {
            if case .passcodeDelayed = progress {
                // Overwrite the countdown of the second before.
                shown.terminal.write("\r\u{1B}[K" + shown.terminal.row(sentence))
            } else {
                say(shown, sentence)
            }
        }
        ask(shown)
    }

    /// Returns the terminal to the shell, or shows the next prompt.
    public func end(_ prompt: Prompt, _ outcome: PromptOutcome) {
        waiting.removeAll { $0.prompt === prompt }
        guard shown?.prompt === prompt else { return }
        takeDown(PromptText.sentence(outcome))
    }

    /// Cancels all prompts and restores the terminal before the process ends.
    public func abort() {
        for (prompt, _) in waiting { prompt.cancel() }
        waiting = []
        cancel()
    }

    private func cancel() {
        guard let shown else { return }
        shown.prompt.cancel()
        takeDown(PromptText.sentence(.canceled))
    }

    private func takeDown(_ words: String) {
        guard let shown else { return }
        self.shown = nil
        shown.source?.cancel()
        shown.line.wipe()
        say(shown, words)
        shown.terminal.restore()
        while self.shown == nil, !waiting.isEmpty {
            let (prompt, state) = waiting.removeFirst()
            do throws(DBusError) {
                try show(prompt, state)
            } catch {
                prompt.cancel()
            }
        }
    }

    private func say(_ shown: Shown, _ words: String) {
        shown.terminal.write("\r\u{1B}[K\(shown.terminal.wrapped(words))\n")
    }

    private func offerFallback(_ shown: Shown) {
        let title = shown.prompt.details.fallbackTitle ?? localized("use another way")
        say(shown, localized("Enter: %1$s.", title))
    }

    private func ask(_ shown: Shown) {
        guard shown.state.takesSecret else { return }
        shown.line.limit = shown.state.longestSecret
        let label = PromptText.passcodeLabel(
            shown.prompt.details,
            asksApplicationPassword: shown.state.asksApplicationPassword
        )
        shown.terminal.write("\r\u{1B}[K\(label)")
    }

    private func readKeys() {
        guard let shown else { return }
        var isCanceled = false
        let size = shown.line.read(from: shown.terminal.descriptor) { line, byte in
            guard let key = shown.keys.key(byte) else { return true }
            isCanceled = key == .cancel
            press(key, &line, shown)
            return !isCanceled
        }
        let isGone = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)
        // Without a terminal, queued prompts cannot be shown either.
        if isGone { abort() } else if isCanceled { cancel() }
    }

    private func press(_ key: KeyReader.Key, _ line: inout SecretLine, _ shown: Shown) {
        switch key {
        case .byte where shown.dropsLine && shown.state.canConfirm:
            break
        case .enter where shown.state.takesSecret && !line.isEmpty:
            send(&line, shown)
        case .enter where shown.state.canConfirm:
            shown.state.withdrawOffers()
            shown.prompt.confirm()
        case .enter where shown.state.canFallBack:
            shown.state.withdrawOffers()
            shown.prompt.fallBack()
        case .byte(let byte) where shown.state.takesSecret:
            if !line.append(byte) { shown.terminal.write("\u{7}") }
        case .erase:
            line.eraseCharacter()
        case .eraseAll:
            shown.dropsLine = false
            line.wipe()
        default:
            break
        }
    }

    private func send(_ line: inout SecretLine, _ shown: Shown) {
        var isSent = false
        do throws(DBusError) {
            try line.withBytes { bytes throws(DBusError) in
                try shown.prompt.submit(passcode: bytes)
            }
            isSent = true
        } catch {
            // The error is of use only in logs; the user can only type the secret anew.
        }
        line.wipe()
        shown.state.submitted(isSent)
        say(shown, shown.state.lastEvent)
        ask(shown)
    }
}

extension PromptProgress {
    /// Whether keys change their meaning with this event.
    fileprivate var asksForKeys: Bool {
        switch self {
        case .fallbackAvailable, .confirmationRequired, .passcodeRequired, .passcodeRejected,
            .passcodeDelayed, .secretRefused:
            true
        default: false
        }
    }
}

public import DBus
import Glibc
internal import Localization

/// Shows prompts on a terminal, one at a time.
///
/// Nothing that is typed is echoed. Enter sends the passcode; with nothing typed it confirms, or
/// takes the fallback, whichever is on offer. ^C cancels. Keys are ignored while nothing is asked.
@BusActor public final class TerminalPrompt: PromptView {
    private final class Shown {
        let prompt: Prompt
        let terminal: Terminal
        var line: SecretLine
        var keys = KeyReader()
        var source: EventSource?
        var takesPasscode: Bool
        var canFallBack = false
        var canConfirm = false

        init(_ prompt: Prompt, _ terminal: Terminal, _ line: consuming SecretLine) {
            self.prompt = prompt
            self.terminal = terminal
            self.line = line
            takesPasscode = prompt.details.takesPasscodeAtOnce
        }
    }

    private let path: String
    private var shown: Shown?

    /// A view on one terminal, which is opened for each prompt and closed after it.
    public init(path: String = "/dev/tty") {
        self.path = path
    }

    /// Whether there is a terminal to ask on.
    public var isUsable: Bool { (try? Terminal(path: path)) != nil }

    /// Whether a prompt is up.
    public var isShowing: Bool { shown != nil }

    /// Shows a prompt.
    /// - Throws: Failed when there is no usable terminal, or another prompt is up.
    public func begin(_ prompt: Prompt) throws(DBusError) {
        guard shown == nil else { throw DBusError(.failed, "Another prompt is on the terminal.") }
        let shown = Shown(prompt, try Terminal(path: path), try SecretLine())
        try shown.terminal.take()
        self.shown = shown
        shown.source = EventLoop.shared.watch(descriptor: shown.terminal.descriptor) {
            [weak self] in
            self?.readKeys()
        }
        let details = prompt.details
        let cancel = plainText(details.cancelTitle ?? localized("cancel"), limit: 64)
        let keys = localized("Ctrl-C: %1$s.", cancel)
        shown.terminal.write(
            """

            \(PromptText.question(details))
            \(PromptText.origin(details))
            \(PromptText.invitation(details)) \(keys)

            """
        )
        ask(shown)
    }

    /// Says what happened and what is on offer now.
    public func update(_ prompt: Prompt, _ progress: PromptProgress) {
        guard let shown, shown.prompt === prompt else { return }
        if progress.asksForKeys, !shown.takesPasscode { shown.terminal.dropInput() }
        if progress == .applicationPasswordRequired {
            // What was begun is the passcode: it is not sent as the password of an item.
            shown.terminal.dropInput()
            shown.line.wipe()
        }
        switch progress {
        case .fallbackAvailable:
            guard prompt.details.fallbackTitle != "" else { return }
            shown.canFallBack = true
            let title = prompt.details.fallbackTitle ?? localized("use another way")
            say(shown, localized("Enter: %1$s.", title))
        case .confirmationRequired:
            shown.canConfirm = true
        case .passcodeRequired, .passcodeRejected(attemptsLeft: 1...), .applicationPasswordRequired:
            shown.takesPasscode = true
        default:
            break
        }
        if let sentence = PromptText.sentence(progress) { say(shown, sentence) }
        ask(shown)
    }

    /// Gives the terminal back.
    public func end(_ prompt: Prompt, _ outcome: PromptOutcome) {
        guard shown?.prompt === prompt else { return }
        takeDown(PromptText.sentence(outcome))
    }

    /// Cancels what is up and gives the terminal back; before the process ends.
    public func abort() {
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
    }

    private func say(_ shown: Shown, _ words: String) {
        shown.terminal.write("\r\u{1B}[K\(words)\n")
    }

    private func ask(_ shown: Shown) {
        guard shown.takesPasscode else { return }
        let label = PromptText.passcodeLabel(
            shown.prompt.details,
            asksApplicationPassword: shown.prompt.asksApplicationPassword
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
        if isCanceled || isGone { abort() }
    }

    private func press(_ key: KeyReader.Key, _ line: inout SecretLine, _ shown: Shown) {
        switch key {
        case .enter where !line.isEmpty:
            send(&line, shown)
        case .enter where shown.canConfirm:
            shown.canConfirm = false
            shown.prompt.confirm()
        case .enter where shown.canFallBack:
            shown.canFallBack = false
            shown.prompt.fallBack()
        case .byte(let byte) where shown.takesPasscode:
            if !line.append(byte) { shown.terminal.write("\u{7}") }
        case .erase:
            line.eraseCharacter()
        case .eraseAll:
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
            // Why is for logs; the person can only type it again.
        }
        line.wipe()
        shown.takesPasscode = !isSent
        say(
            shown,
            isSent ? localized("Checking …") : localized("The service did not take the password.")
        )
        ask(shown)
    }
}

extension PromptProgress {
    /// Whether keys mean something else from now on.
    fileprivate var asksForKeys: Bool {
        switch self {
        case .fallbackAvailable, .confirmationRequired, .passcodeRequired, .passcodeRejected: true
        default: false
        }
    }
}

#if Prompt
import AgentKit
import CLinux
import DBus
import Windows

/// Shows prompts in windows, one at a time, first come first.
@BusActor final class WindowView: PromptView {
    private var waiting: [(prompt: Prompt, state: PromptState)] = []
    private var shown: (prompt: Prompt, state: PromptState, window: PromptWindow)?
    private var lastWords: EventSource?
    /// Called with true when the last prompt is gone, and with false when a prompt begins.
    var idleChanged: @BusActor (Bool) -> Void = { _ in }

    /// Shows a prompt, or queues it behind others.
    ///
    /// - Throws: `Failed` when no memory can be locked.
    func begin(_ prompt: Prompt) throws(DBusError) {
        if shown?.state.isOver == true { close() }
        let state = PromptState(prompt.details)
        if shown == nil {
            shown = (prompt, state, try PromptWindow(prompt, state))
        } else {
            waiting.append((prompt, state))
        }
        idleChanged(false)
    }

    func update(_ prompt: Prompt, _ progress: PromptProgress) {
        if let index = waiting.firstIndex(where: { $0.prompt === prompt }) {
            waiting[index].state.apply(progress)
        }
        guard shown?.prompt === prompt else { return }
        shown?.window.take(progress)
    }

    /// Ends a prompt; an outcome that the user should read stays visible for a moment.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome) {
        waiting.removeAll { $0.prompt === prompt }
        guard let shown, shown.prompt === prompt else { return }
        self.shown?.state.end(outcome)
        shown.window.end(outcome)
        guard waiting.isEmpty, let time = Self.timeToRead(outcome) else { return close() }
        lastWords = EventLoop.shared.schedule(after: time) { [weak self] in self?.close() }
    }

    func abort() {
        for (prompt, _) in waiting { prompt.cancel() }
        waiting = []
        shown?.prompt.cancel()
        close()
    }

    private static func timeToRead(_ outcome: PromptOutcome) -> Duration? {
        switch outcome {
        case .success: .milliseconds(700)
        case .failed, .lockout: .milliseconds(2500)
        case .canceled, .fallback, .system: nil
        }
    }

    private func close() {
        lastWords?.cancel()
        lastWords = nil
        shown?.window.close()
        shown = nil
        while shown == nil, !waiting.isEmpty {
            let (prompt, state) = waiting.removeFirst()
            do throws(DBusError) {
                shown = (prompt, state, try PromptWindow(prompt, state))
            } catch {
                prompt.cancel()
            }
        }
        guard shown == nil else { return }
        idleChanged(true)
        rest()
    }

    /// Frees, while no window is shown, what only windows need: unused heap pages and GTK's code.
    ///
    /// The next window maps that code again from the page cache.
    func rest() {
        GLibLoop.afterInput { [weak self] in
            guard self?.shown == nil else { return }
            malloc_trim(0)
            give_back_libraries()
        }
    }
}
#endif

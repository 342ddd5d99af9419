#if Prompt
import AgentKit
import CLinux
import DBus
import Windows

/// Shows prompts in windows, one at a time and in their order.
@BusActor final class WindowView: PromptView {
    private var waiting: [(prompt: Prompt, state: PromptState)] = []
    private var shown: (prompt: Prompt, state: PromptState, window: PromptWindow)?
    private var lastWords: EventSource?
    /// Called when the last prompt is gone, and when the first one comes.
    var idleChanged: @BusActor (Bool) -> Void = { _ in }

    /// Shows a prompt, or has it wait for those before it.
    /// - Throws: Failed when there is no memory that can be locked.
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

    /// Something happened, to a prompt that is up or to one that waits.
    func update(_ prompt: Prompt, _ progress: PromptProgress) {
        if let index = waiting.firstIndex(where: { $0.prompt === prompt }) {
            waiting[index].state.take(progress)
        }
        guard shown?.prompt === prompt else { return }
        shown?.window.take(progress)
    }

    /// Takes a prompt down; what is worth reading stays for a moment without taking any key.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome) {
        waiting.removeAll { $0.prompt === prompt }
        guard let shown, shown.prompt === prompt else { return }
        self.shown?.state.end(outcome)
        shown.window.end(outcome)
        guard waiting.isEmpty, let time = Self.timeToRead(outcome) else { return close() }
        lastWords = EventLoop.shared.schedule(after: time) { [weak self] in self?.close() }
    }

    /// Cancels what is up; before the process ends.
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

    /// Gives back, once nothing is left to be done, what a window needs and waiting for one
    /// doesn't: free pages, and the code of GTK, which the next window has mapped again from the
    /// page cache.
    func rest() {
        GLibLoop.afterInput { [weak self] in
            guard self?.shown == nil else { return }
            malloc_trim(0)
            give_back_libraries()
        }
    }
}
#endif

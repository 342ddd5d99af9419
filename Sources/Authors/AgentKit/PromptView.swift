public import DBus

/// What shows prompts: a terminal, a window, a test.
///
/// All three are called on the bus loop and must return soon; a view with a loop of its own passes
/// them on. The service shows one prompt at a time, but may begin one before it has ended another.
@BusActor public protocol PromptView: AnyObject {
    /// Shows a prompt.
    /// - Throws: why it can't; the evaluation then ends with SystemCancel.
    func begin(_ prompt: Prompt) throws(DBusError)
    /// Something happened.
    func update(_ prompt: Prompt, _ progress: PromptProgress)
    /// The prompt is over: take it down. Comes once for each that was begun.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome)
}

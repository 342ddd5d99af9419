public import DBus

/// Displays prompts: a terminal, a window or a test.
///
/// All methods are called on the bus loop and must return soon. A view with its own loop forwards
/// them. The service shows one prompt at a time, but may begin the next prompt before it ends the
/// last.
@BusActor public protocol PromptView: AnyObject {
    /// Shows a prompt.
    ///
    /// - Throws: An error if the view cannot show the prompt; the evaluation then ends with
    ///   SystemCancel.
    func begin(_ prompt: Prompt) throws(DBusError)
    func update(_ prompt: Prompt, _ progress: PromptProgress)
    /// Takes the prompt down; called once for each begun prompt.
    func end(_ prompt: Prompt, _ outcome: PromptOutcome)
}

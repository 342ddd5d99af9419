import CPAM
import Glibc

/// State shared with PAM's callbacks, which receive its address.
struct Conversation {
    /// The password, NUL-terminated.
    let passcode: UnsafeMutablePointer<CChar>
    /// Whether no module may see the password.
    var isWithheld = false
    /// The delay that PAM requests after a failure, in microseconds.
    var delay: UInt32 = 0
    /// Whether a module took the password.
    var isAsked = false
    /// Messages of the modules, joined by blanks.
    var message = ""

    mutating func add(_ text: UnsafePointer<CChar>?) {
        guard let text, message.utf8.count < CheckReport.longestMessage else { return }
        if !message.isEmpty { message += " " }
        message += String(cString: text)
    }
}

/// Answers PAM's prompts without echo with the password, unless it is withheld.
///
/// Fails on other prompts.
///
/// PAM frees the replies.
func converse(
    count: Int32,
    messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
    answers: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?,
    conversation: UnsafeMutableRawPointer?
) -> Int32 {
    guard count > 0, count <= PAM_MAX_NUM_MSG, let messages, let answers, let conversation,
        let replies = calloc(Int(count), MemoryLayout<pam_response>.stride)?
            .bindMemory(to: pam_response.self, capacity: Int(count))
    else { return PAM_CONV_ERR }
    let state = conversation.assumingMemoryBound(to: Conversation.self)
    for index in 0..<Int(count) {
        switch messages[index]?.pointee.msg_style {
        case PAM_PROMPT_ECHO_OFF where !state.pointee.isWithheld:
            state.pointee.isAsked = true
            replies[index].resp = strdup(state.pointee.passcode)
        case PAM_TEXT_INFO, PAM_ERROR_MSG:
            state.pointee.add(messages[index]?.pointee.msg)
        default:
            // PAM ignores replies after an error, so wipe and free them here.
            for reply in UnsafeBufferPointer(start: replies, count: index) {
                guard let text = reply.resp else { continue }
                explicit_bzero(text, strlen(text))
                free(text)
            }
            free(replies)
            return PAM_CONV_ERR
        }
    }
    answers.pointee = replies
    return PAM_SUCCESS
}

/// Records the delay that PAM requests after a failure.
///
/// PAM calls this in place of sleeping, whatever the result.
func noteDelay(result: Int32, microseconds: UInt32, conversation: UnsafeMutableRawPointer?) {
    conversation?.assumingMemoryBound(to: Conversation.self).pointee.delay = microseconds
}

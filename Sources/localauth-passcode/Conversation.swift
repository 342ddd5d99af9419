import CPAM
import Glibc

/// Answers PAM's prompts without echo with the passcode, and no other prompts.
///
/// PAM frees the replies.
func converse(
    count: Int32,
    messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
    answers: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?,
    passcode: UnsafeMutableRawPointer?
) -> Int32 {
    guard count > 0, count <= PAM_MAX_NUM_MSG, let messages, let answers, let passcode,
        let replies = calloc(Int(count), MemoryLayout<pam_response>.stride)?
            .bindMemory(to: pam_response.self, capacity: Int(count))
    else { return PAM_CONV_ERR }
    for index in 0..<Int(count) {
        switch messages[index]?.pointee.msg_style {
        case PAM_PROMPT_ECHO_OFF:
            replies[index].resp = strdup(passcode.assumingMemoryBound(to: CChar.self))
        case PAM_TEXT_INFO, PAM_ERROR_MSG:
            continue
        default:
            // PAM takes replies that malloc made; what was filled is wiped and freed.
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

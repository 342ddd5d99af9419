public import DBus
import Glibc
public import Sealing

/// Asks for a secret on a terminal without echo.
///
/// Enter ends the line, ^C cancels.
@BusActor public final class SecretQuestion {
    private let terminal: Terminal
    private let answer: AsyncStream<SecretBytes?>.Continuation
    private var line: SecretLine
    private var keys = KeyReader()
    private var source: EventSource?

    private init(
        _ terminal: Terminal,
        _ line: consuming SecretLine,
        _ answer: AsyncStream<SecretBytes?>.Continuation
    ) {
        self.terminal = terminal
        self.line = line
        self.answer = answer
    }

    /// Asks for a line of at most 1024 bytes.
    ///
    /// - Parameters:
    ///   - label: the text before the cursor; plain text.
    ///   - path: the terminal's device file.
    /// - Returns: The bytes of the line; nil if the user canceled or the terminal is gone.
    /// - Throws: Failed without a usable terminal.
    public static func ask(
        _ label: String,
        path: String = "/dev/tty"
    ) async throws(DBusError) -> SecretBytes? {
        let terminal = try Terminal(path: path)
        var line = try SecretLine()
        line.limit = SecretLine.longestPassword
        try terminal.take()
        defer { terminal.restore() }
        let (answers, continuation) = AsyncStream.makeStream(of: SecretBytes?.self)
        let question = SecretQuestion(terminal, line, continuation)
        question.source = EventLoop.shared.watch(descriptor: terminal.descriptor) {
            [weak question] in
            question?.readKeys()
        }
        terminal.write(label)
        var secret: SecretBytes?
        for await answer in answers {
            secret = answer
            break
        }
        question.source?.cancel()
        question.line.wipe()
        terminal.write("\r\n")
        return secret
    }

    private func readKeys() {
        var isOver = false
        let size = line.read(from: terminal.descriptor) { line, byte in
            switch keys.key(byte) {
            case .enter:
                answer.yield(line.secret)
                isOver = true
            case .cancel:
                answer.yield(nil)
                isOver = true
            case .byte(let byte): if !line.append(byte) { terminal.write("\u{7}") }
            case .erase: line.eraseCharacter()
            case .eraseAll: line.wipe()
            case nil: break
            }
            return !isOver
        }
        if size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR) { answer.yield(nil) }
    }
}

public import DBus
import Glibc
public import Linux

/// Asks for a secret on a terminal.
///
/// Nothing that is typed is shown. Enter ends the line, ^C cancels.
@BusActor public final class SecretQuestion {
    private let terminal: Terminal
    private let target: OwnedDescriptor
    private let answer: AsyncStream<Bool>.Continuation
    private var line: SecretLine
    private var keys = KeyReader()
    private var source: EventSource?

    private init(
        _ terminal: Terminal,
        _ line: consuming SecretLine,
        _ target: OwnedDescriptor,
        _ answer: AsyncStream<Bool>.Continuation
    ) {
        self.terminal = terminal
        self.line = line
        self.target = target
        self.answer = answer
    }

    /// Asks, and writes what was typed into a descriptor; at most 1024 bytes.
    ///
    /// - Parameters:
    ///   - label: what stands before the cursor, plain text.
    ///   - target: takes the bytes of the line, without its end; never blocks.
    ///   - path: the terminal.
    /// - Returns: whether a line came; false when the person canceled or the terminal went.
    /// - Throws: Failed when there is no terminal that can be used.
    public static func ask(
        _ label: String,
        into target: OwnedDescriptor,
        path: String = "/dev/tty"
    ) async throws(DBusError) -> Bool {
        let terminal = try Terminal(path: path)
        let line = try SecretLine()
        try terminal.take()
        defer { terminal.restore() }
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        let question = SecretQuestion(terminal, line, target, continuation)
        question.source = EventLoop.shared.watch(descriptor: terminal.descriptor) {
            [weak question] in
            question?.readKeys()
        }
        terminal.write(label)
        var isAnswered = false
        for await given in answers {
            isAnswered = given
            break
        }
        question.source?.cancel()
        question.line.wipe()
        terminal.write("\r\n")
        return isAnswered
    }

    private func readKeys() {
        var end: Bool?
        let size = line.read(from: terminal.descriptor) { line, byte in
            switch keys.key(byte) {
            case .enter: end = send(line)
            case .cancel: end = false
            case .byte(let byte): if !line.append(byte) { terminal.write("\u{7}") }
            case .erase: line.eraseCharacter()
            case .eraseAll: line.wipe()
            case nil: break
            }
            return end == nil
        }
        if size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR) { end = false }
        if let end { answer.yield(end) }
    }

    private func send(_ line: borrowing SecretLine) -> Bool {
        line.withBytes { bytes in
            // Lent for this call only: no copy of the secret is made.
            bytes.withUnsafeBytes { write(target.rawValue, $0.baseAddress, $0.count) == $0.count }
        }
    }
}

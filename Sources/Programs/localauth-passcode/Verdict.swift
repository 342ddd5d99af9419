import Glibc

/// The result of one password check.
///
/// No value is 0 or 1, so that a stray write by a broken module can't mean success.
enum Verdict: Int32 {
    case correct = 101
    case wrong = 102
    case unopened = 103
    case unknownUser = 104
    case refusedByPAM = 105
    case failed = 106
}

/// A child's report on its pipe, and the rest of its lifetime.
struct CheckReport: Hashable {
    let verdict: Verdict
    /// The time to withhold a failure from the caller, at PAM's request, in microseconds.
    let delay: Int32
    /// Messages of the modules, for a refusal that is no wrong password.
    let message: String

    /// The longest message, in bytes.
    static let longestMessage = 480

    /// The unit of a child's lifetime, longer than the usual delay of pam_unix.
    static let lifetimeUnit = Duration.seconds(3)

    init(_ verdict: Verdict, delay: UInt32 = 0, message: String = "") {
        self.verdict = verdict
        self.delay = Int32(clamping: delay)
        self.message = message
    }

    /// The child's lifetime after a check of `elapsed`, equal for every verdict.
    func childLifetime(after elapsed: Duration) -> Duration {
        let steps = ((elapsed + .microseconds(delay)) / Self.lifetimeUnit).rounded(.up)
        return Self.lifetimeUnit * max(steps, 1)
    }

    /// Reads a child's report; nil when it is missing or malformed.
    init?(from pipe: Int32) {
        var bytes = [UInt8](repeating: 0, count: Self.headSize + Self.longestMessage + 1)
        let count = read(pipe, &bytes, bytes.count)
        guard count >= Self.headSize, count < bytes.count else { return nil }
        let words = bytes.withUnsafeBytes { buffer in
            [0, 4].map { buffer.loadUnaligned(fromByteOffset: $0, as: Int32.self) }
        }
        guard let verdict = Verdict(rawValue: words[0]) else { return nil }
        let text = bytes[Self.headSize..<count]
        self.init(
            verdict,
            delay: UInt32(max(words[1], 0)),
            message: String(decoding: text, as: UTF8.self)
        )
    }

    /// Writes the report at once, because a pipe keeps a single write together.
    func write(to pipe: Int32) {
        var bytes: [UInt8] = []
        for word in [verdict.rawValue, delay] { withUnsafeBytes(of: word) { bytes += $0 } }
        bytes += message.utf8.prefix(Self.longestMessage)
        _ = Glibc.write(pipe, bytes, bytes.count)
    }

    private static let headSize = 8
}

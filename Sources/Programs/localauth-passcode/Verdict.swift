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

    /// The unit of a child's lifetime, longer than the usual delay of pam_unix.
    static let lifeStep = Duration.seconds(3)

    init(_ verdict: Verdict, delay: UInt32 = 0) {
        self.verdict = verdict
        self.delay = Int32(clamping: delay)
    }

    /// The child's lifetime after a check of `elapsed`, equal for every verdict.
    func life(after elapsed: Duration) -> Duration {
        let steps = ((elapsed + .microseconds(delay)) / Self.lifeStep).rounded(.up)
        return Self.lifeStep * max(steps, 1)
    }

    /// Reads a child's report; nil when it is missing or malformed.
    init?(from pipe: Int32) {
        var words: [Int32] = [0, 0]
        let size = words.count * MemoryLayout<Int32>.size
        guard read(pipe, &words, size) == size, let verdict = Verdict(rawValue: words[0]) else {
            return nil
        }
        self.init(verdict, delay: UInt32(max(words[1], 0)))
    }

    func write(to pipe: Int32) {
        let words = [verdict.rawValue, delay]
        _ = Glibc.write(pipe, words, words.count * MemoryLayout<Int32>.size)
    }
}

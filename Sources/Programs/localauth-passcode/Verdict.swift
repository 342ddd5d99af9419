import Glibc

/// What one check of a passcode came to.
///
/// No value is 0 or 1, so that nothing a stray program writes by chance means success.
enum Verdict: Int32 {
    case correct = 101
    case wrong = 102
    case unopened = 103
    case unknownUser = 104
    case refusedByPAM = 105
    case failed = 106
}

/// What a child says on its pipe, and how it spends the rest of its life.
struct CheckReport: Hashable {
    let verdict: Verdict
    /// How long PAM wants a failure to be kept from whoever asked, in microseconds.
    let delay: Int32

    /// A child lives for a multiple of this, which is longer than pam_unix's usual delay.
    static let lifeStep = Duration.seconds(3)

    init(_ verdict: Verdict, delay: UInt32 = 0) {
        self.verdict = verdict
        self.delay = Int32(clamping: delay)
    }

    /// How long a child lives after so long a check; the same for every verdict.
    func life(after elapsed: Duration) -> Duration {
        let steps = ((elapsed + .microseconds(delay)) / Self.lifeStep).rounded(.up)
        return Self.lifeStep * max(steps, 1)
    }

    /// What a child wrote; nil: nothing, or nothing that makes sense.
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

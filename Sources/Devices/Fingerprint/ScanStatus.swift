/// A VerifyStatus or EnrollStatus signal of fprintd.
package struct ScanStatus: Hashable, Sendable {
    /// The results of both signals, without their prefix.
    package enum Result: String, Sendable {
        case match
        case noMatch = "no-match"
        case completed
        case failed
        case stagePassed = "stage-passed"
        case retryScan = "retry-scan"
        case swipeTooShort = "swipe-too-short"
        case tooFast = "too-fast"
        case notCentered = "finger-not-centered"
        case removeAndRetry = "remove-and-retry"
        case full = "data-full"
        case duplicate
        case disconnected
        /// Any other result, including results of later versions; `isDone` then decides.
        case unknown = "unknown-error"
    }

    package let result: Result
    /// True if the scan is over: no status follows until it is stopped.
    package let isDone: Bool

    /// Parses the word of the signal.
    package init(_ word: String, isDone: Bool) {
        let prefix = ["verify-", "enroll-"].first { word.hasPrefix($0) }
        let bare = prefix.map { String(word.dropFirst($0.count)) } ?? ""
        result = Result(rawValue: bare) ?? .unknown
        self.isDone = isDone
    }
}

/// What fprintd says of a scan: one VerifyStatus or EnrollStatus.
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
        /// Everything else, also what later versions may add: then `isDone` decides.
        case unknown = "unknown-error"
    }

    package let result: Result
    /// Whether the scan is over: nothing more comes until it is stopped.
    package let isDone: Bool

    /// A status by the words of the signal.
    package init(_ word: String, isDone: Bool) {
        let prefix = ["verify-", "enroll-"].first { word.hasPrefix($0) }
        let bare = prefix.map { String(word.dropFirst($0.count)) } ?? ""
        result = Result(rawValue: bare) ?? .unknown
        self.isDone = isDone
    }
}

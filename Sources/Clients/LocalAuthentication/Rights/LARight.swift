internal import Dispatch
public import Foundation
internal import Security
internal import Synchronization

/// Something for which a person has to be authenticated.
///
/// All mutable state is behind a lock; the compiler can't check that for an open class.
open class LARight: NSObject, @unchecked Sendable {
    /// Where a right stands.
    public enum State: Int, Sendable {
        /// Nothing was asked yet.
        case unknown = 0
        /// The person is asked.
        case authorizing = 1
        /// The person was there.
        case authorized = 2
        /// The person was not authenticated, or the right was given up.
        case notAuthorized = 3
    }

    private struct Standing: Sendable {
        var state = State.unknown
        var tag = 0
        var context = LAContext()
        /// The enrolment of the first success, for rights that depend on it.
        var enrolment: Data?
        var streams: [UUID: AsyncStream<State>.Continuation] = [:]

        /// Inside the lock: else the streams could have two states the wrong way round.
        mutating func enter(_ state: State) {
            self.state = state
            for stream in streams.values { stream.yield(state) }
        }
    }

    let requirement: LAAuthenticationRequirement
    private let standing = Mutex(Standing())

    /// A right that asks for biometry or the passcode.
    public override convenience init() {
        self.init(requirement: .default)
    }

    /// A right that asks for what the requirement says.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// Where the right stands.
    open var state: State { standing.withLock { $0.state } }

    /// A number of the app's own.
    open var tag: Int {
        get { standing.withLock { $0.tag } }
        set { standing.withLock { $0.tag = newValue } }
    }

    /// Every new state, for code that awaits.
    public var stateUpdates: AsyncStream<State> {
        let key = UUID()
        let (states, feed) = AsyncStream.makeStream(of: State.self)
        feed.onTermination = { [weak self] _ in
            self?.standing.withLock { $0.streams[key] = nil }
        }
        standing.withLock { $0.streams[key] = feed }
        return states
    }

    /// The context that holds the success.
    var context: LAContext { standing.withLock { $0.context } }

    /// Asks the person.
    ///
    /// - Parameters:
    ///   - localizedReason: What for; not empty.
    ///   - completion: Called once, on a private queue; nil: the person was authenticated, and the
    ///     right wasn't given up meanwhile.
    @preconcurrency
    open func authorize(
        localizedReason: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let context = standing.withLock { standing in
            standing.enter(.authorizing)
            return standing.context
        }
        context.evaluatePolicy(requirement.policy, localizedReason: localizedReason) {
            [self] isSuccess, error in
            let refusal = isSuccess ? refusal(after: context) : error
            completion(conclude(refusal, on: context))
        }
    }

    /// Takes the end of an authorization, unless the right was given up since it began.
    ///
    /// Of two at once on the same context the one that succeeds decides.
    /// - Returns: Why the right isn't authorized by it.
    private func conclude(_ refusal: (any Error)?, on context: LAContext) -> (any Error)? {
        standing.withLock { standing in
            guard standing.context === context else {
                if let refusal { return refusal }
                let sentence = "The right was given up meanwhile."
                return LAError(.appCancel, userInfo: [NSLocalizedDescriptionKey: sentence])
            }
            if refusal == nil {
                standing.enter(.authorized)
            } else if standing.state == .authorizing {
                standing.enter(.notAuthorized)
            }
            return refusal
        }
    }

    /// Asks the person.
    ///
    /// - Throws: ``LAError``.
    open func authorize(localizedReason: String) async throws {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            authorize(localizedReason: localizedReason) { error in
                continuation.resume(with: error.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Why a success doesn't count for this right.
    func refusal(after context: LAContext) -> (any Error)? {
        guard requirement.kind == .biometryCurrentSet else { return nil }
        let now = context.domainState.biometry.stateHash
        let first = standing.withLock { standing in
            if standing.enrolment == nil { standing.enrolment = now }
            return standing.enrolment
        }
        guard now == nil || now != first else { return nil }
        return LAError(
            .authenticationFailed,
            userInfo: [NSLocalizedDescriptionKey: "The enrolment is another than it was."]
        )
    }

    /// Says whether the person could be asked now.
    @preconcurrency
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        let policy = requirement.policy
        DispatchQueue.global()
            .async { [self] in
                var error: NSError?
                let isPossible = context.canEvaluatePolicy(policy, error: &error)
                completion(isPossible ? nil : error.map { LAError(_nsError: $0) })
            }
    }

    /// Says whether the person could be asked now.
    ///
    /// - Throws: ``LAError``.
    open func checkCanAuthorize() async throws {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            checkCanAuthorize { error in
                continuation.resume(with: error.map(Result.failure) ?? .success(()))
            }
        }
    }

    /// Gives the right up; the next ``authorize(localizedReason:completion:)`` asks again.
    @preconcurrency
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        let old = standing.withLock { standing in
            let old = standing.context
            standing.context = LAContext()
            standing.enter(.notAuthorized)
            return old
        }
        old.invalidate()
        DispatchQueue.global().async { completion() }
    }

    /// Gives the right back.
    open func deauthorize() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            deauthorize { continuation.resume() }
        }
    }
}

internal import Dispatch
public import Foundation
internal import Security
internal import Synchronization

/// An operation that requires authentication.
///
/// SAFETY: a lock guards all mutable state, which the compiler can't check in an open class.
open class LARight: NSObject, @unchecked Sendable {
    public enum State: Int, Sendable {
        /// No authorization has started yet.
        case unknown = 0
        /// An authorization runs.
        case authorizing = 1
        case authorized = 2
        /// The authorization failed, or the right was deauthorized.
        case notAuthorized = 3
    }

    private struct Storage: Sendable {
        var state = State.unknown
        var tag = 0
        var context = LAContext()
        /// The enrolment at the first success, for rights that depend on it.
        var enrolment: Data?
        var streams: [UUID: AsyncStream<State>.Continuation] = [:]

        /// Runs inside the lock, so that streams receive states in the right order.
        mutating func enter(_ state: State) {
            self.state = state
            for stream in streams.values { stream.yield(state) }
        }
    }

    let requirement: LAAuthenticationRequirement
    private let storage = Mutex(Storage())

    /// Creates a right that requires biometry or the password.
    public override convenience init() {
        self.init(requirement: .default)
    }

    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    open var state: State { storage.withLock { $0.state } }

    /// A number for the app's own use.
    open var tag: Int {
        get { storage.withLock { $0.tag } }
        set { storage.withLock { $0.tag = newValue } }
    }

    /// A stream of new states.
    public var stateUpdates: AsyncStream<State> {
        let key = UUID()
        let (states, feed) = AsyncStream.makeStream(of: State.self)
        feed.onTermination = { [weak self] _ in
            self?.storage.withLock { $0.streams[key] = nil }
        }
        storage.withLock { $0.streams[key] = feed }
        return states
    }

    /// The context with the success.
    var context: LAContext { storage.withLock { $0.context } }

    /// Authenticates the user.
    ///
    /// - Parameters:
    ///   - localizedReason: The purpose; not empty.
    ///   - completion: Called once, on a private queue. Nil means that the user was authenticated
    ///     and the right was not deauthorized meanwhile.
    @preconcurrency
    open func authorize(
        localizedReason: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let context = storage.withLock { storage in
            storage.enter(.authorizing)
            return storage.context
        }
        context.evaluatePolicy(requirement.policy, localizedReason: localizedReason) {
            [self] isSuccess, error in
            let refusal = isSuccess ? refusal(after: context) : error
            completion(conclude(refusal, on: context))
        }
    }

    /// Applies the result of an authorization, unless the right was deauthorized since the start.
    ///
    /// If two authorizations overlap on a context, a success wins.
    ///
    /// - Returns: The reason why the right is not authorized, or nil.
    private func conclude(_ refusal: (any Error)?, on context: LAContext) -> (any Error)? {
        storage.withLock { storage in
            guard storage.context === context else {
                if let refusal { return refusal }
                let sentence = "The right was given up meanwhile."
                return LAError(.appCancel, userInfo: [NSLocalizedDescriptionKey: sentence])
            }
            if refusal == nil {
                storage.enter(.authorized)
            } else if storage.state == .authorizing {
                storage.enter(.notAuthorized)
            }
            return refusal
        }
    }

    /// Authenticates the user.
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

    /// Returns the reason why a success doesn't authorize this right, or nil.
    func refusal(after context: LAContext) -> (any Error)? {
        guard requirement.kind == .biometryCurrentSet else { return nil }
        let now = context.domainState.biometry.stateHash
        let first = storage.withLock { storage in
            if storage.enrolment == nil { storage.enrolment = now }
            return storage.enrolment
        }
        guard now == nil || now != first else { return nil }
        return LAError(
            .authenticationFailed,
            userInfo: [NSLocalizedDescriptionKey: "The enrolment is another than it was."]
        )
    }

    /// Checks whether an authorization is possible now.
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

    /// Checks whether an authorization is possible now.
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

    /// Discards the success; the next ``authorize(localizedReason:completion:)`` prompts again.
    @preconcurrency
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        let old = storage.withLock { storage in
            let old = storage.context
            storage.context = LAContext()
            storage.enter(.notAuthorized)
            return old
        }
        old.invalidate()
        DispatchQueue.global().async { completion() }
    }

    /// Discards the success; the next ``authorize(localizedReason:)`` prompts again.
    open func deauthorize() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            deauthorize { continuation.resume() }
        }
    }
}

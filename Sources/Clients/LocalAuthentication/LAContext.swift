internal import Dispatch
public import Foundation
internal import LocalAuthClient
public import Security
internal import Synchronization

/// A series of evaluations that share their success, as in Apple's framework.
///
/// The next evaluation that an earlier success satisfies needs no prompt. A running evaluation
/// keeps its context alive until the reply.
///
/// SAFETY: a lock guards all mutable state, which the compiler can't check in an open class.
open class LAContext: NSObject, @unchecked Sendable {
    struct State: Sendable {
        var fallbackTitle: String?
        var cancelTitle: String?
        var reason = ""
        var isInteractionNotAllowed = false
        var reuseDuration: TimeInterval = 0
        var maxBiometryFailures: Int?
    }

    let session = AuthenticationSession()
    private let state = Mutex(State())
    private let invalidated = Atomic<Bool>(false)
    /// Runs replies concurrently, off the main thread.
    private static let replies = DispatchQueue(
        label: "org.localauth.LocalAuthentication.reply",
        attributes: .concurrent
    )

    public override init() {
        super.init()
    }

    // MARK: Evaluating

    /// Checks whether a policy could be evaluated now; shows no prompt.
    ///
    /// The error pointer is part of Apple's signature.
    ///
    /// - Parameters:
    ///   - policy: The required proof.
    ///   - error: Receives the reason for false, in the domain ``LAErrorDomain``; otherwise nil.
    /// - Returns: Whether an evaluation is possible.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let session = session
        let refusal: AuthenticationError? =
            isInvalid
            ? Self.invalid
            : blocking(orElse: Self.unanswered) {
                do throws(AuthenticationError) {
                    try await session.check(policy.wire)
                    return nil
                } catch {
                    return error
                }
            }
        error?.pointee = refusal.map { LAError($0)._nsError }
        return refusal == nil
    }

    /// Authenticates the user.
    ///
    /// - Parameters:
    ///   - policy: The required proof.
    ///   - localizedReason: The purpose. An empty reason stops the process, as on Apple's systems.
    ///   - reply: Called exactly once, on a private queue.
    @preconcurrency
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.check(localizedReason)
        answer(reply) { session, options in
            session.evaluation(of: policy.wire, reason: localizedReason, options: options)
        }
    }

    /// Authenticates the user and returns true.
    ///
    /// - Throws: ``LAError``.
    @discardableResult
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { isSuccess, error in
                continuation.resume(with: Self.result(isSuccess, error))
            }
        }
    }

    /// Authenticates the user for one operation on an object with an access control.
    ///
    /// - Parameters:
    ///   - accessControl: The access control of the object.
    ///   - operation: The intended operation.
    ///   - localizedReason: The purpose. An empty reason stops the process, as on Apple's systems.
    ///   - reply: Called exactly once, on a private queue.
    @preconcurrency
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.check(localizedReason)
        if !isInvalid, !isFork, let missing = accessControl.missing(operation) {
            Self.replies.async { reply(false, LAError(_nsError: missing.keyError)) }
            return
        }
        answer(reply) { session, options in
            session.evaluation(
                of: accessControl.wire,
                operation: UInt32(operation.rawValue),
                reason: localizedReason,
                options: options
            )
        }
    }

    /// Authenticates the user for one operation and returns true.
    ///
    /// - Throws: ``LAError``.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(
                accessControl,
                operation: operation,
                localizedReason: localizedReason
            ) { isSuccess, error in
                continuation.resume(with: Self.result(isSuccess, error))
            }
        }
    }

    /// Ends running evaluations with `appCancel` and later calls with `invalidContext`.
    open func invalidate() {
        guard !invalidated.exchange(true, ordering: .acquiringAndReleasing) else { return }
        session.invalidate()
    }

    private func answer(
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void,
        _ start:
            @Sendable (AuthenticationSession, AuthenticationOptions) -> AuthenticationEvaluation
    ) {
        guard !isInvalid else {
            Self.replies.async { reply(false, LAError(Self.invalid)) }
            return
        }
        guard !isFork else {
            // Dispatch queues don't run in a forked child.
            reply(false, LAError(Self.unanswered(.forked)))
            return
        }
        let evaluation = start(session, options)
        // Capturing the context keeps a temporary context alive until its reply.
        evaluation.whenOver { [self] refusal in
            Self.replies.async { [self] in
                withExtendedLifetime(self) { reply(refusal == nil, refusal.map { LAError($0) }) }
            }
        }
    }

    private static func result(
        _ isSuccess: Bool,
        _ error: (any Error)?
    ) -> Result<Bool, any Error> {
        isSuccess ? .success(true) : .failure(error ?? LAError(.authenticationFailed))
    }

    private static func check(_ reason: String) {
        guard reason.isEmpty else { return }
        let sentence = "Non-empty localizedReason must be provided."
        // Release builds don't print the message of a precondition.
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
        preconditionFailure(sentence)
    }

    private static let invalid = AuthenticationError(
        .invalidContext,
        "The context was invalidated."
    )

    private static func unanswered(_ reason: BlockingFailure) -> AuthenticationError {
        let isMisuse = reason == .onLoop
        return AuthenticationError(
            isMisuse ? .systemCancel : .biometryNotAvailable,
            reason.message
        )
    }

    var isInvalid: Bool { invalidated.load(ordering: .acquiring) }

    // MARK: Properties

    func read<Value>(_ path: (State) -> Value, default value: Value) -> Value {
        isInvalid ? value : state.withLock { path($0) }
    }

    func write(_ change: (inout State) -> Void) {
        guard !isInvalid else { return }
        state.withLock { change(&$0) }
    }

    /// The title of the fallback button; nil: the default; empty: no button.
    open var localizedFallbackTitle: String? {
        get { read(\.fallbackTitle, default: nil) }
        set { write { $0.fallbackTitle = newValue } }
    }

    /// The title of the cancel button; nil or empty: the default.
    open var localizedCancelTitle: String? {
        get { read(\.cancelTitle, default: nil) }
        set { write { $0.cancelTitle = newValue } }
    }

    /// The reason for prompts of calls without a reason, such as keychain calls.
    open var localizedReason: String {
        get { read(\.reason, default: "") }
        set { write { $0.reason = newValue } }
    }

    /// Whether evaluations fail with `notInteractive` instead of showing a prompt.
    open var interactionNotAllowed: Bool {
        get { read(\.isInteractionNotAllowed, default: false) }
        set { write { $0.isInteractionNotAllowed = newValue } }
    }

    /// The maximum age of a biometric unlock that replaces a prompt, in seconds.
    ///
    /// Values are clamped to ``LATouchIDAuthenticationMaximumAllowableReuseDuration``.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { read(\.reuseDuration, default: 0) }
        set { write { $0.reuseDuration = newValue } }
    }

    /// Has no effect; exists for programs that set it.
    open var maxBiometryFailures: NSNumber? {
        get { read(\.maxBiometryFailures, default: nil).map { NSNumber(value: $0) } }
        set { write { $0.maxBiometryFailures = newValue?.intValue } }
    }

    // MARK: What is enrolled

    /// The kind of the strongest sensor, usable or not.
    open var biometryType: LABiometryType { currentBiometryType() }

    /// A digest of the enrolment, which changes whenever the enrolment does.
    ///
    /// Nil before the first successful check or evaluation of a biometric policy on this context.
    open var evaluatedPolicyDomainState: Data? { lastDomainState() }

    /// Digests of the current enrolment; no evaluation needed before.
    open var domainState: LADomainState { currentDomainState() }

    // MARK: Credentials

    /// Sets a credential, so that prompts don't ask for it; nil removes it.
    ///
    /// - Returns: Whether the call succeeded; false after ``invalidate()`` and without the service.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        give(credential, type)
    }

    /// Whether the context has a credential of this type.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { has(type) }
}

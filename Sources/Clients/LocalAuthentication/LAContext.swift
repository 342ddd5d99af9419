internal import Dispatch
public import Foundation
internal import LocalAuthClient
public import Security
internal import Synchronization

/// One or more evaluations that belong together, as in Apple's framework.
///
/// A success stays with its context: the next evaluation that it satisfies needs no prompt. A
/// context that nobody holds lives until its reply has come.
///
/// All mutable state is in `state`, behind a lock; the compiler can't check that for an open class.
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
    /// Replies run here, never on the main thread, and do not wait for one another.
    private static let replies = DispatchQueue(
        label: "org.localauth.LocalAuthentication.reply",
        attributes: .concurrent
    )

    /// A context without a success.
    public override init() {
        super.init()
    }

    // MARK: Evaluating

    /// Whether a policy could be evaluated now; nobody is prompted.
    ///
    /// The error pointer is part of Apple's signature.
    ///
    /// - Parameters:
    ///   - policy: What would have to be proved.
    ///   - error: Gets why it could not, in the domain ``LAErrorDomain``; nil when it could.
    /// - Returns: Whether it could.
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

    /// Authenticates the person.
    ///
    /// - Parameters:
    ///   - policy: What has to be proved.
    ///   - localizedReason: What for; the process stops when it is empty, as on Apple's systems.
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

    /// Authenticates the person; true, or an ``LAError``.
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

    /// Authenticates the person for one operation on what an access control guards.
    ///
    /// - Parameters:
    ///   - accessControl: What guards it.
    ///   - operation: What is to be done.
    ///   - localizedReason: What for; the process stops when it is empty, as on Apple's systems.
    ///   - reply: Called exactly once, on a private queue.
    @preconcurrency
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.check(localizedReason)
        answer(reply) { session, options in
            session.evaluation(
                of: accessControl.wire,
                operation: UInt32(operation.rawValue),
                reason: localizedReason,
                options: options
            )
        }
    }

    /// Authenticates the person for one operation; true, or an ``LAError``.
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

    /// Ends what runs with `appCancel`, and all that comes later with `invalidContext`.
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
            // No queue runs here either.
            reply(false, LAError(Self.unanswered(.forked)))
            return
        }
        let evaluation = start(session, options)
        // Capturing the context keeps a temporary one alive until its reply.
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
        // A release build keeps a precondition's sentence to itself.
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
        preconditionFailure(sentence)
    }

    private static let invalid = AuthenticationError(
        .invalidContext,
        "The context was invalidated."
    )

    private static func unanswered(_ reason: NoAnswer) -> AuthenticationError {
        let isMisuse = reason == .onLoop
        return AuthenticationError(
            isMisuse ? .systemCancel : .biometryNotAvailable,
            reason.message
        )
    }

    /// Whether it was invalidated.
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

    /// The reason for prompts whose caller gives none, such as those of the keychain.
    open var localizedReason: String {
        get { read(\.reason, default: "") }
        set { write { $0.reason = newValue } }
    }

    /// Whether evaluations answer `notInteractive` in place of a prompt.
    open var interactionNotAllowed: Bool {
        get { read(\.isInteractionNotAllowed, default: false) }
        set { write { $0.isInteractionNotAllowed = newValue } }
    }

    /// The age of a biometric unlock that is accepted in place of a prompt, in seconds.
    ///
    /// More than ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` behaves as that.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { read(\.reuseDuration, default: 0) }
        set { write { $0.reuseDuration = newValue } }
    }

    /// Kept for programs that set it; it has no effect.
    open var maxBiometryFailures: NSNumber? {
        get { read(\.maxBiometryFailures, default: nil).map { NSNumber(value: $0) } }
        set { write { $0.maxBiometryFailures = newValue?.intValue } }
    }

    // MARK: What is enrolled

    /// What the strongest sensor looks at, whether it can be used now or not.
    open var biometryType: LABiometryType { currentBiometryType() }

    /// Represents the enrolment: the bytes change whenever it does.
    ///
    /// Nil until a policy with biometry could be, or was, evaluated on this context.
    open var evaluatedPolicyDomainState: Data? { lastDomainState() }

    /// Represents the current enrolment; needs no evaluation before.
    open var domainState: LADomainState { currentDomainState() }

    // MARK: Credentials

    /// Gives the context a secret that it would ask for otherwise; nil removes it.
    ///
    /// - Returns: Whether that was done; false after ``invalidate()``, and without the service.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        give(credential, type)
    }

    /// Whether the context has a secret of that type.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { has(type) }
}

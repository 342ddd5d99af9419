import ClientTestSupport
import DBus
import Dispatch
import Foundation
import LocalAuthBus
import LocalAuthentication
import Synchronization
import TestSupport
import Testing

/// Tests contexts with the real daemon and a simulated sensor.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LAContextTests {
    private let reason = "open the diary"

    @Test("R21: A match grants, and the prompt shows the reason")
    func match() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match")
            let context = LAContext()
            #expect(
                try await context.evaluatePolicy(
                    .deviceOwnerAuthenticationWithBiometrics,
                    localizedReason: reason
                )
            )
            let prompt = try await desk.agent.prompt()
            #expect(prompt.details["reason"] == .string(reason))
        }
    }

    @Test("R32: A context without references lives until its reply")
    func temporary() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("delay:200", "match")
            let isSuccess = await withCheckedContinuation { continuation in
                LAContext()
                    .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason) { yes, _ in
                        continuation.resume(returning: yes)
                    }
            }
            #expect(isSuccess)
        }
    }

    @Test("R14, R30: The reply comes once, off the main thread, and may start an evaluation")
    func reply() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match")
            let context = LAContext()
            let replies = Mutex(0)
            let seen = await withCheckedContinuation { continuation in
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason) {
                    [context] isSuccess, error in
                    replies.withLock { $0 += 1 }
                    let again = context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
                    continuation.resume(
                        returning: (isSuccess, error == nil, again, MainQueue.shared.isCurrent)
                    )
                }
            }
            #expect(seen == (true, true, true, false))
            context.invalidate()
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(replies.withLock { $0 } == 1)
        }
    }

    @Test("R33: A success stays with its context, and a new context prompts again")
    func reuse() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match", "match")
            let context = LAContext()
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
            #expect(await desk.agent.count == 1)
            try await LAContext()
                .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("Cancel is userCancel, fallback userFallback, three misses authenticationFailed")
    func refusals() async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            #expect(await code(of: .deviceOwnerAuthenticationWithBiometrics) == .userCancel)
            await desk.agent.will(.fallBack)
            try await desk.queue("no-match")
            #expect(await code(of: .deviceOwnerAuthenticationWithBiometrics) == .userFallback)
            try await desk.queue("match")
            #expect(await code(of: .deviceOwnerAuthenticationWithBiometrics) == nil)
            await desk.agent.will(.wait)
            try await desk.queue("no-match", "no-match", "no-match")
            let failed = await code(of: .deviceOwnerAuthenticationWithBiometrics)
            #expect(failed == .authenticationFailed)
        }
    }

    @Test("R3, R4, R5: Five misses lock biometry out, and the password clears the lockout")
    func lockout() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("no-match", "no-match", "no-match")
            _ = await code(of: .deviceOwnerAuthenticationWithBiometrics)
            let context = LAContext()
            async let fifth = code(of: .deviceOwnerAuthenticationWithBiometrics)
            try await desk.queue("no-match")
            try await eventually("the fourth failure") {
                desk.agent.updates.seen.count { $0.kind == "no-match" } == 4
            }
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            try await desk.queue("no-match")
            #expect(await fifth == .biometryLockout)
            var error: NSError?
            #expect(
                !context.canEvaluatePolicy(
                    .deviceOwnerAuthenticationWithBiometrics,
                    error: &error
                )
            )
            #expect(error?.domain == LAErrorDomain)
            #expect(error?.code == Int(kLAErrorBiometryLockout))
            #expect((error as (any Error)?) as? LAError != nil)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            await desk.agent.will(.type(ScriptedVerifier.passcode))
            #expect(await code(of: .deviceOwnerAuthentication) == nil)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        }
    }

    @Test("R31: Invalidating ends evaluations with appCancel, later calls with invalidContext")
    func invalidation() async throws {
        try await ClientDesk.run { desk in
            let context = LAContext()
            context.localizedFallbackTitle = "Other way"
            async let running = code(of: .deviceOwnerAuthenticationWithBiometrics, on: context)
            _ = try await desk.agent.prompt()
            context.invalidate()
            context.invalidate()
            #expect(await running == .appCancel)
            let later = await code(of: .deviceOwnerAuthenticationWithBiometrics, on: context)
            #expect(later == .invalidContext)
            var error: NSError?
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(error?.code == -10)
            #expect(context.localizedFallbackTitle == nil)
            #expect(context.biometryType == .none)
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(!context.setCredential(Data("x".utf8), type: .applicationPassword))
            // The service never created a context object for this context.
            let unused = LAContext()
            unused.invalidate()
            #expect(!unused.setCredential(nil, type: .applicationPassword))
        }
    }

    @Test("Invalidating before the context object exists is appCancel as well")
    func earlyInvalidation() async throws {
        try await ClientDesk.run { _ in
            let context = LAContext()
            let code = await withCheckedContinuation { continuation in
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason) {
                    continuation.resume(returning: ($1 as? LAError)?.code)
                }
                context.invalidate()
            }
            #expect(code == .appCancel)
        }
    }

    @Test("R36: interactionNotAllowed is notInteractive")
    func noInteraction() async throws {
        try await ClientDesk.run { desk in
            let context = LAContext()
            context.interactionNotAllowed = true
            let code = await code(of: .deviceOwnerAuthenticationWithBiometrics, on: context)
            #expect(code == .notInteractive)
            #expect(await desk.agent.count == 0)
        }
    }

    @Test("R22, R23: The prompt has the context's titles; an empty title hides the fallback")
    func titles() async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            let context = LAContext()
            context.localizedCancelTitle = "Not now"
            context.localizedFallbackTitle = ""
            _ = await code(of: .deviceOwnerAuthenticationWithBiometrics, on: context)
            let first = try await desk.agent.prompt(0).details
            #expect(first["cancel-title"] == .string("Not now"))
            #expect(first["fallback-title"] == .string(""))
            context.localizedCancelTitle = ""
            context.localizedFallbackTitle = nil
            _ = await code(of: .deviceOwnerAuthenticationWithBiometrics, on: context)
            let second = try await desk.agent.prompt(1).details
            #expect(second["cancel-title"] == nil)
            #expect(second["fallback-title"] == nil)
        }
    }

    @Test("R42: A new context knows the sensor's type")
    func biometryType() async throws {
        try await ClientDesk.run { desk in
            #expect(LAContext().biometryType == .touchID)
            try await desk.sensor.setBiometryType(biometryType: 2)
            try await eventually("a face sensor") {
                try await desk.manager.biometryType() == 2
            }
            #expect(LAContext().biometryType == .faceID)
        }
    }

    @Test("R40: The domain state appears with canEvaluatePolicy, and changes with the enrolment")
    func domainState() async throws {
        try await ClientDesk.run { desk in
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            #expect(context.evaluatedPolicyDomainState == nil)
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
            let first = try #require(context.evaluatedPolicyDomainState)
            #expect(first.count == 32)
            #expect(LAContext().domainState.biometry.stateHash == first)
            try await desk.enrollAnother()
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
            let second = try #require(context.evaluatedPolicyDomainState)
            #expect(second != first)
            #expect(LAContext().domainState.biometry.stateHash == second)
            context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            #expect(context.evaluatedPolicyDomainState == second, "it is no biometric policy")
            #expect(LAContext().domainState.companion.availableCompanionTypes.isEmpty)
        }
    }

    @Test("R37: A credential can be set, checked and removed")
    func credentials() async throws {
        try await ClientDesk.run { _ in
            let context = LAContext()
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(Data("secret".utf8), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword))
            #expect(!context.isCredentialSet(.smartCardPIN))
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(!context.isCredentialSet(.applicationPassword))
        }
    }

    private func code(
        of policy: LAPolicy,
        on context: LAContext = LAContext()
    ) async -> LAError.Code? {
        do {
            try await context.evaluatePolicy(policy, localizedReason: reason)
            return nil
        } catch {
            return (error as? LAError)?.code
        }
    }
}

// MARK: - What else a context promises

extension LAContextTests {
    private typealias Reply = @Sendable (Bool, (any Error)?) -> Void

    /// The circumstances of a reply.
    private struct Arrival: Equatable, Sendable {
        let code: LAError.Code?
        let isOnMain: Bool
        let isAfterCall: Bool
    }

    private static func arrival(of call: (@escaping Reply) -> Void) async -> Arrival {
        let returned = DispatchSemaphore(value: 0)
        return await withCheckedContinuation { continuation in
            call { _, error in
                let isOnMain = MainQueue.shared.isCurrent
                // If the reply came during the call, the wait would time out.
                let isAfterCall = returned.wait(timeout: .now() + .seconds(30)) == .success
                continuation.resume(
                    returning: Arrival(
                        code: (error as? LAError)?.code,
                        isOnMain: isOnMain,
                        isAfterCall: isAfterCall
                    )
                )
            }
            returned.signal()
        }
    }

    @Test("R30: A refusal comes once, off the main thread and after its call")
    func refusalReply() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { _ in
            let word = kSecAttrAccessibleWhenUnlocked
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, word, .userPresence, nil)
            )
            let (alone, invalid) = (LAContext(), LAContext())
            invalid.invalidate()
            let refusals = [(alone, LAError.Code.biometryNotAvailable), (invalid, .invalidContext)]
            for (context, code) in refusals {
                let expected = Arrival(code: code, isOnMain: false, isAfterCall: true)
                let ofPolicy = await Self.arrival { reply in
                    context.evaluatePolicy(
                        .deviceOwnerAuthentication,
                        localizedReason: reason,
                        reply: reply
                    )
                }
                try #require(ofPolicy == expected)
                let ofItem = await Self.arrival { reply in
                    context.evaluateAccessControl(
                        control,
                        operation: .useItem,
                        localizedReason: reason,
                        reply: reply
                    )
                }
                try #require(ofItem == expected)
            }
        }
    }

    @Test("R14: A successful check clears the error of an earlier check")
    func errorOfSuccess() async throws {
        try await ClientDesk.run { _ in
            let context = LAContext()
            let companion = LAPolicy.deviceOwnerAuthenticationWithCompanion
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            var error: NSError?
            #expect(!context.canEvaluatePolicy(companion, error: &error))
            #expect(error?.code == -11)
            #expect(context.canEvaluatePolicy(biometry, error: &error))
            #expect(error == nil)
        }
    }

    @Test("R31: Invalidating resets all properties to their defaults")
    func defaults() async throws {
        try await ClientDesk.run { _ in
            let context = LAContext()
            context.localizedFallbackTitle = "Other way"
            context.localizedCancelTitle = "Not now"
            context.localizedReason = reason
            context.interactionNotAllowed = true
            context.touchIDAuthenticationAllowableReuseDuration = 30
            context.maxBiometryFailures = 5
            // Without an evaluation the client has the state, not the service.
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            #expect(context.canEvaluatePolicy(biometry, error: nil))
            #expect(context.evaluatedPolicyDomainState?.count == 32)
            #expect(context.domainState.stateHash?.count == 32)
            #expect(context.biometryType == .touchID)
            #expect(context.localizedFallbackTitle == "Other way")
            #expect(context.localizedCancelTitle == "Not now")
            #expect(context.localizedReason == reason)
            #expect(context.interactionNotAllowed)
            #expect(context.touchIDAuthenticationAllowableReuseDuration == 30)
            #expect(context.maxBiometryFailures == 5)
            context.invalidate()
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(context.domainState.stateHash == nil)
            #expect(context.domainState.biometry.stateHash == nil)
            #expect(context.biometryType == .none)
            #expect(context.localizedFallbackTitle == nil)
            #expect(context.localizedCancelTitle == nil)
            #expect(context.localizedReason.isEmpty)
            #expect(!context.interactionNotAllowed)
            #expect(context.touchIDAuthenticationAllowableReuseDuration == 0)
            #expect(context.maxBiometryFailures == nil)
        }
    }

    @Test("R7: maxBiometryFailures keeps its value and has no effect")
    func maxBiometryFailures() async throws {
        try await ClientDesk.run { desk in
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            let context = LAContext()
            #expect(context.maxBiometryFailures == nil)
            context.maxBiometryFailures = 1
            #expect(context.maxBiometryFailures == 1)
            try await desk.queue("no-match", "no-match", "match")
            #expect(await code(of: biometry, on: context) == nil)
            let other = LAContext()
            other.maxBiometryFailures = 5
            #expect(other.maxBiometryFailures == 5)
            try await desk.queue("no-match", "no-match", "no-match")
            #expect(await code(of: biometry, on: other) == .authenticationFailed)
            other.maxBiometryFailures = nil
            #expect(other.maxBiometryFailures == nil)
        }
    }

    @Test("R66: Every use of a key or item prompts; creating it does not")
    func operations() async throws {
        try await ClientDesk.run { desk in
            let word = kSecAttrAccessibleWhenUnlocked
            let flags: SecAccessControlCreateFlags = [.privateKeyUsage, .biometryAny]
            let ofKey = try #require(SecAccessControlCreateWithFlags(nil, word, flags, nil))
            let ofItem = try #require(SecAccessControlCreateWithFlags(nil, word, .biometryAny, nil))
            func evaluate(
                _ operation: LAAccessControlOperation,
                isForeign: Bool = false
            ) async throws {
                let isOfItem = [.createItem, .useItem].contains(operation) != isForeign
                try await LAContext()
                    .evaluateAccessControl(
                        isOfItem ? ofItem : ofKey,
                        operation: operation,
                        localizedReason: reason
                    )
            }
            // An unexpected prompt would be canceled at once.
            await desk.agent.will(.cancel)
            for operation in [LAAccessControlOperation.createItem, .createKey] {
                try await evaluate(operation)
            }
            // The access control of an item contains no use of a key, and the reverse.
            for operation in [LAAccessControlOperation.useItem, .useKeySign, .useKeyKeyExchange] {
                let error = await #expect(throws: LAError.self) {
                    try await evaluate(operation, isForeign: true)
                }
                #expect(error?.errorCode == -1009 && error?.code == .authenticationFailed)
            }
            #expect(await desk.agent.count == 0)
            await desk.agent.will(.wait)
            let uses: [LAAccessControlOperation] = [
                .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
            ]
            for (number, operation) in uses.enumerated() {
                try await desk.queue("match")
                try await evaluate(operation)
                #expect(await desk.agent.count == number + 1)
            }
        }
    }

    @BusActor
    private static func pairCompanion(at desk: Desk) async throws {
        let name = "org.localauth.Sensor1.Key"
        let words = ["localauth-sensor-simulated", "--name", "Key", "--type", "companion"]
        try desk.bus.start(words)
        try await desk.bus.waitForOwner(of: name)
        let key = SimulatedSensor1Proxy(
            desk.agent.connection,
            destination: name,
            path: desk.sensor.path
        )
        _ = try await key.addTemplate(uid: getuid(), label: "key")
        try await eventually("a companion that can be used") {
            try await desk.manager.canEvaluate(policy: 3).code == 0
        }
    }

    @Test("R41: Without an enrolment there is no hash; the combined hash covers companions")
    func combinedState() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            try await desk.startDaemon().startSensor(enrolling: nil)
            let nothing = LAContext().domainState
            #expect(nothing.biometry.biometryType == .touchID)
            #expect(nothing.biometry.stateHash == nil)
            #expect(nothing.stateHash == nil)
            try await desk.enrollAnother()
            try await desk.waitUntilUsable()
            let finger = LAContext().domainState
            #expect(finger.biometry.stateHash?.count == 32)
            #expect(finger.stateHash?.count == 32)
            #expect(finger.companion.stateHash == nil)
            try await Self.pairCompanion(at: desk)
            let both = LAContext().domainState
            #expect(both.biometry.stateHash == finger.biometry.stateHash)
            #expect(both.stateHash?.count == 32)
            #expect(both.stateHash != finger.stateHash)
            #expect(both.companion.availableCompanionTypes == [.watch])
            #expect(both.companion.stateHash == both.stateHash)
        }
    }
}

/// Recognises the main queue by a queue-specific value, because its work may run on other threads.
private struct MainQueue: @unchecked Sendable {
    static let shared = MainQueue()

    private let mark = DispatchSpecificKey<Bool>()

    private init() {
        DispatchQueue.main.setSpecific(key: mark, value: true)
    }

    /// Whether the caller runs on the main queue or on the main thread.
    var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true
    }
}

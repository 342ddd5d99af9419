import ClientTestSupport
import DBus
import Foundation
import Glibc
import LocalAuthBus
import LocalAuthClient
import Security
import TestSupport
import Testing

@testable import LocalAuthentication

/// Tests programs with a hung service, with many contexts and in a forked child.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SilenceTests {
    @Test("A thousand contexts that only check stay below the service's limits")
    func thousand() async throws {
        try await ClientDesk.run { _ in
            var contexts: [LAContext] = []
            for _ in 0..<1000 {
                let context = LAContext()
                var error: NSError?
                let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
                guard context.canEvaluatePolicy(biometry, error: &error) else {
                    Issue.record("the \(contexts.count)th is \(error?.code ?? 0)")
                    break
                }
                contexts.append(context)
            }
            // Reading the enrolment's state stays below the limits, too.
            let states = Set(contexts.prefix(300).map(\.evaluatedPolicyDomainState))
            #expect(states.count == 1)
            #expect(states.first??.count == 32)
            #expect(contexts.first?.domainState.biometry.stateHash == states.first)
        }
    }

    @Test("R40: Reading domainState has no side effects")
    func looking() async throws {
        try await ClientDesk.run { _ in
            let context = LAContext()
            #expect(context.domainState.biometry.stateHash?.count == 32)
            #expect(context.evaluatedPolicyDomainState == nil)
            let passcode = LAPolicy.deviceOwnerAuthentication
            #expect(context.canEvaluatePolicy(passcode, error: nil))
            #expect(context.evaluatedPolicyDomainState == nil)
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            #expect(context.canEvaluatePolicy(biometry, error: nil))
            #expect(context.setCredential(Data("x".utf8), type: .applicationPassword))
            #expect(context.evaluatedPolicyDomainState?.count == 32)
        }
    }

    @Test("Calls without a prompt give up on a hung service")
    func hanging() async throws {
        try await ClientDesk.run { desk in
            let used = LAContext()
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            #expect(used.canEvaluatePolicy(biometry, error: nil))
            #expect(used.setCredential(Data("x".utf8), type: .applicationPassword))
            let daemon = try #require(await desk.daemon)
            let pid = await daemon.process.pid
            #expect(kill(pid, SIGSTOP) == 0)
            defer { kill(pid, SIGCONT) }
            for context in [used, LAContext()] {
                var error: NSError?
                #expect(!context.canEvaluatePolicy(biometry, error: &error))
                #expect(error?.domain == LAErrorDomain)
                #expect(error?.code == -6)
                #expect(error?.localizedDescription.contains("doesn’t answer") == true)
            }
            #expect(used.biometryType == .none)
            #expect(used.domainState.stateHash == nil)
            #expect(!used.setCredential(Data(), type: .applicationPassword))
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecNotAvailable)
            #expect(SecItemAdd(query, nil) == errSecNotAvailable)
            #expect(SecItemUpdate(query, [:] as NSDictionary) == errSecNotAvailable)
            #expect(SecItemDelete(query) == errSecNotAvailable)
        }
    }

    @Test("Awaited calls without a prompt give up on a hung service")
    func hangingAwaited() async throws {
        try await ClientDesk.run { desk in
            let store = LARightStore.shared
            let right = try await store.saveRight(LARight(), identifier: "r", secret: Data([1]))
            await desk.agent.will(.type("passcode"))
            try await desk.queue("match")
            try await right.authorize(localizedReason: "look")
            let session = AuthenticationSession()
            try await session.check(.biometrics)
            let daemon = try #require(await desk.daemon)
            let pid = await daemon.process.pid
            #expect(kill(pid, SIGSTOP) == 0)
            defer { kill(pid, SIGCONT) }
            // The items may be gone, so both rights refuse.
            #expect(right.refusal(after: LAContext()) != nil)
            let current = LARight(requirement: .biometryCurrentSet)
            #expect(current.refusal(after: LAContext()) != nil)
            let keychain: [@Sendable () async throws -> Void] = [
                { _ = try await store.saveRight(LARight(), identifier: "s") },
                { _ = try await store.right(forIdentifier: "r") },
                { try await store.removeRight(forIdentifier: "r") },
                { _ = try await right.secret.rawData },
            ]
            // Concurrently, because each call takes two seconds.
            await withTaskGroup { group in
                for call in keychain {
                    group.addTask {
                        let error = await #expect(throws: NSError.self) { try await call() }
                        #expect(error?.domain == NSOSStatusErrorDomain)
                        #expect(error?.code == Int(errSecNotAvailable))
                    }
                }
                group.addTask {
                    let away = await #expect(throws: AuthenticationError.self) {
                        try await session.check(.biometrics)
                    }
                    #expect(away?.code == .biometryNotAvailable)
                }
                group.addTask {
                    let quiet = LAContext()
                    quiet.interactionNotAllowed = true
                    let policy = LAPolicy.deviceOwnerAuthentication
                    let refused = await #expect(throws: LAError.self) {
                        try await quiet.evaluatePolicy(policy, localizedReason: "look")
                    }
                    #expect(refused?.code == .biometryNotAvailable)
                }
            }
        }
    }

    @Test("R31: An invalidated evaluation ends even if the service hangs")
    func hangingInvalidated() async throws {
        try await ClientDesk.run { desk in
            let daemon = try #require(await desk.daemon)
            let pid = await daemon.process.pid
            #expect(kill(pid, SIGSTOP) == 0)
            defer { kill(pid, SIGCONT) }
            let context = LAContext()
            let replies = AsyncStream<LAError.Code?>.makeStream()
            let policy = LAPolicy.deviceOwnerAuthentication
            context.evaluatePolicy(policy, localizedReason: "look") { _, error in
                replies.continuation.yield((error as? LAError)?.code)
                replies.continuation.finish()
            }
            context.invalidate()
            let task = Task {
                try await AuthenticationSession().authenticate(.biometrics, reason: "look")
            }
            task.cancel()
            let canceled = await #expect(throws: AuthenticationError.self) {
                _ = try await task.value
            }
            #expect(canceled?.code == .appCancel)
            var codes: [LAError.Code?] = []
            for await code in replies.stream { codes.append(code) }
            #expect(codes == [.appCancel])
        }
    }

    @Test("Clearing an unset credential creates no context object")
    func nothingHeld() async throws {
        try await ClientDesk.run { _ in
            let contexts = (0..<300).map { _ in LAContext() }
            for context in contexts {
                #expect(context.setCredential(nil, type: .applicationPassword))
                #expect(!context.isCredentialSet(.applicationPassword))
            }
            let last = LAContext()
            #expect(last.setCredential(Data("x".utf8), type: .applicationPassword))
            #expect(last.setCredential(nil, type: .applicationPassword))
            #expect(!last.isCredentialSet(.applicationPassword))
            #expect(!contexts.isEmpty)
        }
    }

    @Test("A forked child fails at once, and the parent goes on")
    func fork() async throws {
        try await ClientDesk.run { _ in
            #expect(LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            // Swift hides `fork`, because little works in a forked child. This test needs it.
            typealias Fork = @convention(c) () -> pid_t
            let address = try #require(dlsym(nil, "fork"))
            let fork = unsafeBitCast(address, to: Fork.self)
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            let pid = fork()
            if pid == 0 {
                alarm(20)
                var error: NSError?
                let may = LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
                // The failure comes at once, not from a timeout.
                let isKnown = error?.localizedDescription.contains("fork") == true
                let isRefused = !may && error?.code == -6 && isKnown
                _exit(isRefused && SecItemCopyMatching(query, nil) == errSecNotAvailable ? 7 : 8)
            }
            #expect(pid > 0)
            var status: Int32 = 0
            #expect(waitpid(pid, &status, 0) == pid)
            #expect(status == 7 << 8)
            #expect(LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
        }
    }
}

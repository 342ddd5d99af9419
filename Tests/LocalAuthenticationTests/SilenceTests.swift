import ClientTestSupport
import Foundation
import Glibc
import LocalAuthentication
import Security
import TestSupport
import Testing

/// What a program sees of a service that doesn't answer, of many contexts, and of a fork of itself.
@Suite(.timeLimit(.minutes(2)))
struct SilenceTests {
    @Test("A thousand contexts that only ask are no limit that a program can see")
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
            // What they say of the enrolment is no limit either.
            let states = Set(contexts.prefix(300).map(\.evaluatedPolicyDomainState))
            #expect(states.count == 1)
            #expect(states.first??.count == 32)
            #expect(contexts.first?.domainState.biometry.stateHash == states.first)
        }
    }

    @Test("R40: To read domainState sets nothing else")
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

    @Test("A service that hangs is away: nothing waits for it that doesn't prompt")
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

    @Test("A fork is refused at once, and the program itself goes on")
    func fork() async throws {
        try await ClientDesk.run { _ in
            #expect(LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            // Swift hides it, because so little works in the new process; that is the point.
            typealias Fork = @convention(c) () -> pid_t
            let address = try #require(dlsym(nil, "fork"))
            let fork = unsafeBitCast(address, to: Fork.self)
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            let pid = fork()
            if pid == 0 {
                alarm(20)
                var error: NSError?
                let may = LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
                // At once, and not because nobody answers.
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

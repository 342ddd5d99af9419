import ClientTestSupport
import DBus
import Foundation
import LocalAuthentication
import TestSupport
import Testing

/// Rights, with and without something that they guard.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LARightTests {
    @Test("R80: A right goes from unknown to authorized and back to not authorized")
    func states() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometry)
            #expect(right.state == .unknown)
            #expect(right.tag == 0)
            try await right.checkCanAuthorize()
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            #expect(right.state == .authorized)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe again")
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("What a right asks for is the policy of its prompt")
    func policies() async throws {
        try await ClientDesk.run { desk in
            let wanted: [(LAAuthenticationRequirement, UInt32)] = [
                (.default, 2), (.biometry, 1), (.biometryCurrentSet, 1),
            ]
            for (number, (requirement, policy)) in wanted.enumerated() {
                try await desk.queue("match")
                try await LARight(requirement: requirement)
                    .authorize(localizedReason: "open the safe")
                let prompt = try await desk.agent.prompt(number)
                #expect(prompt.details["policy"] == .uint32(policy))
            }
        }
    }

    @Test("A refusal leaves the right not authorized")
    func refused() async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            let right = LARight()
            await #expect(throws: LAError.self) {
                try await right.authorize(localizedReason: "open the safe")
            }
            #expect(right.state == .notAuthorized)
        }
    }

    @Test("A right of the current enrolment ends with it")
    func currentSet() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometryCurrentSet)
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            await right.deauthorize()
            try await desk.enrollAnother()
            try await desk.queue("match")
            do {
                try await right.authorize(localizedReason: "open the safe")
                Issue.record("it was authorized")
            } catch {
                let refusal = error as? LAError
                #expect(refusal?.code == .authenticationFailed)
                #expect(refusal?.localizedDescription == "The enrolment is another than it was.")
            }
            #expect(right.state == .notAuthorized)
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("Code that awaits hears of every new state")
    func updates() async throws {
        try await ClientDesk.run { desk in
            let right = LARight()
            let updates = right.stateUpdates
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            var seen: [LARight.State] = []
            for await state in updates {
                seen.append(state)
                if state == .authorized { break }
            }
            #expect(seen == [.authorizing, .authorized])
        }
    }
}

import DBus
import Testing

@testable import AgentKit

@Suite struct PromptStateTests {
    private func state(
        policy: UInt32 = 1,
        stage: String = "biometry",
        _ more: [String: Variant] = [:]
    ) throws -> PromptState {
        let least: [String: Variant] = [
            "reason": .string("unlock"), "stage": .string(stage), "policy": .uint32(policy),
            "biometry-types": .array(element: .uint32, [.uint32(1), .uint32(2), .uint32(1)]),
        ]
        return PromptState(try PromptDetails(least.merging(more) { $1 }))
    }

    @Test("L6: The password field is there from the start under policy 2, later under policy 1")
    func secret() throws {
        #expect(try state(policy: 2).takesSecret)
        var state = try state()
        #expect(!state.showsSecret)
        let both = "Touch the fingerprint sensor or look at the camera."
        #expect(state.invitation == both)
        state.take(.noMatch(attemptsLeft: 2))
        #expect(state.invitation == both)
        state.take(.passcodeRequired(cause: "attempts"))
        #expect(state.invitation == "")
        #expect(state.showsSecret && state.takesSecret && state.sensors.isEmpty)
    }

    @Test("Sensors of one kind share a picture, which shows when they look")
    func sensors() throws {
        var state = try state()
        #expect(state.sensors.map(\.biometryType) == [1, 2])
        state.take(.sensorReady(sensor: "s", biometryType: 2))
        #expect(state.sensors.map(\.isReady) == [false, true])
        // Only the password is asked for again, so the sensors keep looking.
        state.take(.passcodeRequired(cause: "verifier-failed"))
        #expect(state.sensors.count == 2)
    }

    @Test("L25: The note that another program uses a sensor stays until that sensor looks or fails")
    func inUse() throws {
        let inUse = "fprintd-verify uses the fingerprint reader."
        let busy = PromptProgress.sensorBusy(sensor: "F", biometryType: 1, by: "fprintd-verify")
        var state = try state()
        state.take(busy)
        #expect(state.words == inUse)
        state.take(.sensorReady(sensor: "C", biometryType: 2))
        #expect(state.words == inUse)
        state.take(.hint("move-closer"))
        #expect(state.words == "Move closer.\n\(inUse)")
        state.take(.sensorReady(sensor: "F", biometryType: 1))
        #expect(state.words == "Move closer.")
        state.take(busy)
        state.take(.sensorFailed(sensor: "F", biometryType: 1, cause: "missing"))
        state.take(.hint("move-closer"))
        #expect(state.words == "Move closer.")
        state.take(busy)
        state.end(.canceled)
        #expect(state.words == PromptText.sentence(.canceled))
    }

    @Test("A hint after a miss is shown behind it until the next event")
    func hintAfterMiss() throws {
        var state = try state()
        let miss = PromptProgress.noMatch(attemptsLeft: 1)
        let words = try #require(PromptText.sentence(miss))
        state.take(miss)
        state.take(.hint("look-at-camera"))
        #expect(state.words == words + " Look at the camera." && state.mood == .failed)
        state.take(.hint("move-closer"))
        #expect(state.words == "Move closer." && state.mood == .asking)
    }

    @Test("R22: The fallback is on offer when the service says so, unless its title is empty")
    func fallback() throws {
        var state = try state()
        #expect(!state.canFallBack)
        state.take(.fallbackAvailable)
        #expect(state.canFallBack)
        state.answered()
        #expect(!state.canFallBack)
        var hidden = try self.state(["fallback-title": .string("")])
        hidden.take(.fallbackAvailable)
        #expect(!hidden.canFallBack)
    }

    @Test("No secret is taken during a check, nor after the last wrong secret")
    func checking() throws {
        var state = try state(policy: 2)
        state.submitted(true)
        #expect(state.showsSecret && !state.takesSecret)
        state.take(.passcodeRejected(attemptsLeft: 1))
        #expect(state.takesSecret && state.mood == .failed)
        state.submitted(true)
        state.take(.passcodeDelayed(seconds: 61))
        #expect(state.words == "Too many wrong passwords: wait 61 seconds.")
        #expect(!state.takesSecret)
        state.take(.passcodeDelayed(seconds: 121))
        #expect(state.words == "Too many wrong passwords: wait 3 minutes.")
        state.take(.passcodeRequired(cause: "delay-over"))
        #expect(state.takesSecret)
        state.take(.passcodeRejected(attemptsLeft: 0))
        #expect(!state.takesSecret)
        state.submitted(false)
        #expect(state.takesSecret && state.mood == .failed)
        state.submitted(true)
        state.take(.secretRefused)
        #expect(state.takesSecret && state.mood == .failed)
        #expect(state.words == "The service did not take the password. Enter it again.")
    }

    @Test("A cause during a check asks for no other secret, unless the check failed")
    func causeWhileChecked() throws {
        var state = try state(policy: 2)
        state.submitted(true)
        state.take(.passcodeRequired(cause: "boot"))
        #expect(!state.takesSecret)
        state.take(.passcodeRequired(cause: "verifier-failed"))
        #expect(state.takesSecret)
        state.submitted(true)
        state.take(.passcodeRejected(attemptsLeft: 2))
        #expect(state.takesSecret)
    }

    @Test("L22: An item's password is a separate secret")
    func applicationPassword() throws {
        var state = try state(policy: 2)
        #expect(!state.asksApplicationPassword)
        state.submitted(true)
        state.take(.applicationPasswordRequired)
        #expect(state.asksApplicationPassword && state.takesSecret)
    }

    @Test("A prompt that is over takes no input and no events")
    func over() throws {
        var state = try state(policy: 2)
        state.take(.fallbackAvailable)
        state.take(.confirmationRequired)
        #expect(state.canConfirm && state.mood == .recognized)
        state.end(.lockout)
        #expect(state.isOver && state.mood == .locked)
        #expect(!state.takesSecret && !state.canConfirm && !state.canFallBack)
        let words = state.words
        state.take(.passcodeRequired(cause: "attempts"))
        #expect(state.words == words && !state.takesSecret)
    }
}

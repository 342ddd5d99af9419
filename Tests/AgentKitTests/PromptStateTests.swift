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
        state.apply(.noMatch(attemptsLeft: 2))
        #expect(state.invitation == both)
        state.apply(.passcodeRequired(cause: "attempts"))
        #expect(state.invitation == "")
        #expect(state.showsSecret && state.takesSecret && state.sensors.isEmpty)
    }

    @Test("Sensors of one kind share a picture, which shows when they look")
    func sensors() throws {
        var state = try state()
        #expect(state.sensors.map(\.biometryType) == [1, 2])
        state.apply(.sensorReady(sensor: "s", biometryType: 2))
        #expect(state.sensors.map(\.isReady) == [false, true])
        // Only the password is asked for again, so the sensors keep looking.
        state.apply(.passcodeRequired(cause: "verifier-failed"))
        #expect(state.sensors.count == 2)
    }

    @Test("L25: The note that another program uses a sensor stays until that sensor looks or fails")
    func inUse() throws {
        let inUse = "fprintd-verify uses the fingerprint reader."
        let busy = PromptProgress.sensorBusy(sensor: "F", biometryType: 1, by: "fprintd-verify")
        var state = try state()
        state.apply(busy)
        #expect(state.statusText == inUse)
        state.apply(.sensorReady(sensor: "C", biometryType: 2))
        #expect(state.statusText == inUse)
        state.apply(.hint("move-closer"))
        #expect(state.statusText == "Move closer.\n\(inUse)")
        state.apply(.sensorReady(sensor: "F", biometryType: 1))
        #expect(state.statusText == "Move closer.")
        state.apply(busy)
        state.apply(.sensorFailed(sensor: "F", biometryType: 1, cause: "missing"))
        state.apply(.hint("move-closer"))
        #expect(state.statusText == "Move closer.")
        state.apply(busy)
        state.end(.canceled)
        #expect(state.statusText == PromptText.sentence(.canceled))
    }

    @Test("A hint after a miss is shown behind it until the next event")
    func hintAfterMiss() throws {
        var state = try state()
        let miss = PromptProgress.noMatch(attemptsLeft: 1)
        let words = try #require(PromptText.sentence(miss))
        state.apply(miss)
        state.apply(.hint("look-at-camera"))
        #expect(state.statusText == words + " Look at the camera." && state.mood == .failed)
        state.apply(.hint("move-closer"))
        #expect(state.statusText == "Move closer." && state.mood == .asking)
    }

    @Test("R22: The fallback is on offer when the service says so, unless its title is empty")
    func fallback() throws {
        var state = try state()
        #expect(!state.canFallBack)
        state.apply(.fallbackAvailable)
        #expect(state.canFallBack)
        state.withdrawOffers()
        #expect(!state.canFallBack)
        var hidden = try self.state(["fallback-title": .string("")])
        hidden.apply(.fallbackAvailable)
        #expect(!hidden.canFallBack)
    }

    @Test("No secret is taken during a check, nor after the last wrong secret")
    func checking() throws {
        var state = try state(policy: 2)
        state.submitted(true)
        #expect(state.showsSecret && !state.takesSecret)
        state.apply(.passcodeRejected(attemptsLeft: 1))
        #expect(state.takesSecret && state.mood == .failed)
        state.submitted(true)
        state.apply(.passcodeDelayed(seconds: 61))
        #expect(state.statusText == "Too many wrong passwords: wait 61 seconds.")
        #expect(!state.takesSecret)
        state.apply(.passcodeDelayed(seconds: 121))
        #expect(state.statusText == "Too many wrong passwords: wait 3 minutes.")
        state.apply(.passcodeRequired(cause: "delay-over"))
        #expect(state.takesSecret)
        state.apply(.passcodeRejected(attemptsLeft: 0))
        #expect(!state.takesSecret)
        state.submitted(false)
        #expect(state.takesSecret && state.mood == .failed)
        state.submitted(true)
        state.apply(.secretRefused)
        #expect(state.takesSecret && state.mood == .failed)
        #expect(state.statusText == "The service did not take the password. Enter it again.")
    }

    @Test("A cause during a check asks for no other secret, unless the check failed")
    func causeWhileChecked() throws {
        var state = try state(policy: 2)
        state.submitted(true)
        state.apply(.passcodeRequired(cause: "boot"))
        #expect(!state.takesSecret)
        state.apply(.passcodeRequired(cause: "verifier-failed"))
        #expect(state.takesSecret)
        state.submitted(true)
        state.apply(.passcodeRejected(attemptsLeft: 2))
        #expect(state.takesSecret)
    }

    @Test("L22: An item's password is a separate secret")
    func applicationPassword() throws {
        var state = try state(policy: 2)
        #expect(!state.asksApplicationPassword)
        state.submitted(true)
        state.apply(.applicationPasswordRequired)
        #expect(state.asksApplicationPassword && state.takesSecret)
    }

    @Test("A prompt that is over takes no input and no events")
    func over() throws {
        var state = try state(policy: 2)
        state.apply(.fallbackAvailable)
        state.apply(.confirmationRequired)
        #expect(state.canConfirm && state.mood == .recognized)
        state.end(.lockout)
        #expect(state.isOver && state.mood == .locked)
        #expect(!state.takesSecret && !state.canConfirm && !state.canFallBack)
        let words = state.statusText
        state.apply(.passcodeRequired(cause: "attempts"))
        #expect(state.statusText == words && !state.takesSecret)
    }
}

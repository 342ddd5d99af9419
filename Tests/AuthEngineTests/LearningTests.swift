import Contract
import Testing

@testable import AuthEngine

@Suite("Template updates")
struct LearningTests {
    private func desk(_ sensors: SensorFact..., learns: Bool = true) -> EngineHarness {
        var settings = Settings()
        settings.updatesFaceTemplates = learns
        var desk = EngineHarness(settings: settings)
        desk.facts.sensors = sensors
        return desk
    }

    @Test("A match alone updates no template; the password typed instead of confirming does")
    func confirmed() throws {
        var desk = desk(.webcam)
        let alone = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.send(.confirmed(alone))
        #expect(desk.grant(alone)?.mechanism == .biometry)
        #expect(desk.templateUpdates.isEmpty)

        let id = desk.evaluate(.biometricsOrPasscode)
        let operation = try #require(desk.operations.first?.id)
        desk.scan("webcam", matching: true)
        #expect(desk.engine.awaitsConfirmation(id) && desk.templateUpdates.isEmpty)
        let effects = desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(effects.contains(.updateTemplate(operation, id, sensor: "webcam")))
        #expect(desk.templateUpdates.count == 1)
    }

    @Test("An access control with face and password updates the template after the password")
    func accessControl() throws {
        var desk = desk(.face)
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan("face", matching: true)
        #expect(desk.isPending(id) && desk.templateUpdates.isEmpty)
        desk.passcode(id, .wrong)
        #expect(desk.templateUpdates.isEmpty)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .passcode])
        #expect(desk.templateUpdates == ["face"])
    }

    @Test("Without the setting, no template is updated and no sensor is told to")
    func off() throws {
        var desk = desk(.webcam, learns: false)
        let id = desk.evaluate(.biometricsOrPasscode)
        let operation = try #require(desk.operations.first?.id)
        #expect(!desk.engine.mayUpdateTemplate(from: operation))
        desk.scan("webcam", matching: true)
        desk.configure { $0.updatesFaceTemplates = true }
        desk.passcode(id, .correct)
        #expect(desk.grant(id) != nil && desk.templateUpdates.isEmpty, "seen while it was off")

        let next = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.configure { $0.updatesFaceTemplates = false }
        desk.passcode(next, .correct)
        #expect(
            desk.grant(next) != nil && desk.templateUpdates.isEmpty,
            "off when it was confirmed"
        )
    }

    @Test("Only a face is updated, and only where the prompt could ask for the password")
    func onlyFaces() throws {
        var desk = desk(.finger, .face, .key)
        let either = desk.evaluate(.biometricsOrPasscode)
        let may = desk.operations.filter { desk.engine.mayUpdateTemplate(from: $0.id) }
            .map(\.sensor)
        #expect(may == ["face"])
        desk.send(.canceled(either))
        desk.evaluate(.biometrics)
        #expect(!desk.operations.isEmpty)
        #expect(desk.operations.allSatisfy { !desk.engine.mayUpdateTemplate(from: $0.id) })
        var fingers = self.desk(.finger)
        let id = try fingers.access([.biometryAny, .devicePasscode])
        fingers.scan(matching: true)
        fingers.passcode(id, .correct)
        #expect(fingers.grant(id) != nil && fingers.templateUpdates.isEmpty)
    }

    @Test("Neither another prompt's password nor a wrong password confirms a match")
    func otherPrompt() {
        var desk = desk(.webcam)
        let first = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.passcode(first, .wrong)
        #expect(desk.isPending(first) && desk.templateUpdates.isEmpty)
        desk.send(.canceled(first))
        let second = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(second, .correct)
        #expect(desk.grant(second) != nil)
        #expect(desk.templateUpdates.isEmpty)
    }

    @Test("A face that missed is not updated, even after the right password")
    func missed() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<2 { desk.scan("webcam", matching: false) }
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.templateUpdates.isEmpty)
    }

    @Test("A match that biometry's refusal revoked updates no template")
    func refused() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.templateUpdates.isEmpty)
    }

    @Test("An earlier password of the context confirms no match of a later prompt")
    func earlierPasscode() throws {
        var desk = desk(.face)
        let first = try desk.access([.devicePasscode], context: EngineHarness.context)
        desk.passcode(first, .correct)
        #expect(desk.grant(first) != nil)
        let second = try desk.access(
            [.biometryAny, .devicePasscode],
            context: EngineHarness.context
        )
        desk.scan("face", matching: true)
        #expect(desk.grant(second)?.proofs.map(\.mechanism).contains(.biometry) == true)
        #expect(desk.templateUpdates.isEmpty)
    }
}

extension EngineHarness {
    /// The sensors that were told to update a template, in order.
    var templateUpdates: [String] {
        effects.compactMap {
            if case .updateTemplate(_, _, let sensor) = $0 { sensor } else { nil }
        }
    }
}

import Contract
import Testing

@testable import AuthEngine

@Suite("Template updates")
struct LearningTests {
    private func desk(_ sensors: SensorFact..., learns: Bool = true) -> Desk {
        var settings = Settings()
        settings.learnsFaces = learns
        var desk = Desk(settings: settings)
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
        #expect(desk.lessons.isEmpty)

        let id = desk.evaluate(.biometricsOrPasscode)
        let operation = try #require(desk.operations.first?.id)
        desk.scan("webcam", matching: true)
        #expect(desk.engine.awaitsConfirmation(id) && desk.lessons.isEmpty)
        let effects = desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(effects.contains(.learn(operation, id, sensor: "webcam")))
        #expect(desk.lessons.count == 1)
    }

    @Test("An access control with face and password updates the template after the password")
    func accessControl() throws {
        var desk = desk(.face)
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan("face", matching: true)
        #expect(desk.isPending(id) && desk.lessons.isEmpty)
        desk.passcode(id, .wrong)
        #expect(desk.lessons.isEmpty)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .passcode])
        #expect(desk.lessons == ["face"])
    }

    @Test("Without the setting, no template is updated and no sensor is told to")
    func off() throws {
        var desk = desk(.webcam, learns: false)
        let id = desk.evaluate(.biometricsOrPasscode)
        let operation = try #require(desk.operations.first?.id)
        #expect(!desk.engine.mayLearn(from: operation))
        desk.scan("webcam", matching: true)
        desk.configure { $0.learnsFaces = true }
        desk.passcode(id, .correct)
        #expect(desk.grant(id) != nil && desk.lessons.isEmpty, "seen while it was off")

        let next = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.configure { $0.learnsFaces = false }
        desk.passcode(next, .correct)
        #expect(desk.grant(next) != nil && desk.lessons.isEmpty, "off when it was confirmed")
    }

    @Test("Only a face is updated, and only where the prompt could ask for the password")
    func onlyFaces() throws {
        var desk = desk(.finger, .face, .key)
        let either = desk.evaluate(.biometricsOrPasscode)
        let may = desk.operations.filter { desk.engine.mayLearn(from: $0.id) }.map(\.sensor)
        #expect(may == ["face"])
        desk.send(.canceled(either))
        desk.evaluate(.biometrics)
        #expect(!desk.operations.isEmpty)
        #expect(desk.operations.allSatisfy { !desk.engine.mayLearn(from: $0.id) })
        var fingers = self.desk(.finger)
        let id = try fingers.access([.biometryAny, .devicePasscode])
        fingers.scan(matching: true)
        fingers.passcode(id, .correct)
        #expect(fingers.grant(id) != nil && fingers.lessons.isEmpty)
    }

    @Test("Neither another prompt's password nor a wrong password confirms a match")
    func otherPrompt() {
        var desk = desk(.webcam)
        let first = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.passcode(first, .wrong)
        #expect(desk.isPending(first) && desk.lessons.isEmpty)
        desk.send(.canceled(first))
        let second = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(second, .correct)
        #expect(desk.grant(second) != nil)
        #expect(desk.lessons.isEmpty)
    }

    @Test("A face that missed is not updated, even after the right password")
    func missed() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<2 { desk.scan("webcam", matching: false) }
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.lessons.isEmpty)
    }

    @Test("A match that biometry's refusal revoked updates no template")
    func refused() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.lessons.isEmpty)
    }

    @Test("An earlier password of the context confirms no match of a later prompt")
    func earlierPasscode() throws {
        var desk = desk(.face)
        let first = try desk.access([.devicePasscode], context: Desk.context)
        desk.passcode(first, .correct)
        #expect(desk.grant(first) != nil)
        let second = try desk.access([.biometryAny, .devicePasscode], context: Desk.context)
        desk.scan("face", matching: true)
        #expect(desk.grant(second)?.proofs.map(\.mechanism).contains(.biometry) == true)
        #expect(desk.lessons.isEmpty)
    }
}

extension Desk {
    /// The sensors that were told to update a template, in order.
    var lessons: [String] {
        effects.compactMap { if case .learn(_, _, let sensor) = $0 { sensor } else { nil } }
    }
}

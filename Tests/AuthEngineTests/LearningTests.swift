import Contract
import Testing

@testable import AuthEngine

@Suite("What a sensor may learn from")
struct LearningTests {
    private func desk(_ sensors: SensorFact..., learns: Bool = true) -> Desk {
        var settings = Settings()
        settings.learnsFaces = learns
        var desk = Desk(settings: settings)
        desk.facts.sensors = sensors
        return desk
    }

    @Test("A match alone teaches nothing; the passcode typed in its place confirms it")
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

    @Test("An access control that asks for face and passcode confirms by the passcode, not before")
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

    @Test("Unless the settings say so, nothing is learned, and no sensor is told that it may")
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

    @Test("Only a face is learned from, and only where the prompt could ask for the passcode")
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

    @Test("The passcode of another prompt confirms nothing, nor does a wrong one")
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

    @Test("A face that did not match is not learned, though the passcode was right")
    func missed() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<2 { desk.scan("webcam", matching: false) }
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.lessons.isEmpty)
    }

    @Test("A match that counts no more, because biometry is refused by now, is not learned")
    func refused() {
        var desk = desk(.webcam)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.scan("webcam", matching: true)
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.lessons.isEmpty)
    }

    @Test("A context's earlier passcode confirms no match of a later prompt")
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
    /// The sensors that were told to learn, in order.
    var lessons: [String] {
        effects.compactMap { if case .learn(_, _, let sensor) = $0 { sensor } else { nil } }
    }
}

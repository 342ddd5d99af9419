import Contract
import Glibc
import Testing

@testable import AuthEngine

@Suite("Recorded lives")
struct RecordingTests {
    @Test(
        "Replaying the events of a random life gives equal effects",
        arguments: 1...20
    )
    func replay(_ seed: UInt64) {
        var life = RandomLife(seed: seed, hasItems: seed.isMultiple(of: 2))
        for _ in 0..<200 { life.live() }
        let again = life.recording.replayed()
        #expect(again.effects == life.recording.effects)
        #expect(again.engine == life.engine)
        #expect(again.swift == life.recording.swift)
    }

    @Test("The report of a failed life is a test that replays it")
    func printed() throws {
        var life = Recording()
        relive(&life)
        #expect(life.effects.last?.first == .tell(EvaluationID(1), .miss(attemptsLeft: 2)))
        let file = try #require(fopen(#filePath, "r"))
        defer { fclose(file) }
        var text = ""
        while let line = readLine(from: file) { text += line }
        #expect(bare(text).contains(bare(life.swift)))
    }

    /// The output of a report, formatted by `make format`.
    private func relive(_ life: inout Recording) {
        life.start(
            with(Settings()) { $0.faceAttempts = 3 },
            [
                1000: with(UserRecord()) {
                    $0.misses = 1
                    $0.delayedUntil = .init(nanoseconds: 77)
                }, 2000: with(UserRecord()) { $0.passcodeCause = PasscodeCause(.program) },
            ],
            since: .init(nanoseconds: 5)
        )
        life.take(
            .agentRegistered(
                Agent(id: .init(1), client: .init(9), uid: 1000, session: "a", kind: .process(100))
            ),
            at: .init(nanoseconds: 10)
        )
        life.take(
            .requested(
                with(Request(id: .init(1), client: .init(1), uid: 1000, policy: .biometrics)) {
                    $0.context = .init(3)
                    $0.stages = [[.biometry, .passcode]]
                    $0.operation = .useItem
                    $0.asksApplicationPassword = true
                    $0.minimumStrength = .strong
                    $0.requiresConfirmation = false
                }
            ),
            at: .init(nanoseconds: 20)
        )
        life.take(
            .lookedUp(
                .init(1),
                with(Facts()) {
                    $0.sensors = [
                        .init(
                            name: "finger",
                            type: .fingerprint,
                            strength: .strong,
                            availability: .usable,
                            templates: 1,
                            obstacle: nil
                        )
                    ]
                    $0.passcode = .set
                    $0.session = "a"
                    $0.processes = [100]
                }
            ),
            at: .init(nanoseconds: 50)
        )
        life.take(.promptBegan(.init(1)), at: .init(nanoseconds: 60))
        life.take(
            .sensorHinted(.init(rawValue: 1), "hold-still"),
            at: .init(nanoseconds: 70)
        )
        life.take(
            .configured(
                with(Settings()) {
                    $0.faceAttempts = 3
                    $0.faceConfirmation = .always
                    $0.passcodeAfter = nil
                }
            ),
            at: .init(nanoseconds: 80)
        )
        life.take(.sensorMissed(.init(rawValue: 1), attempt: 1), at: .init(nanoseconds: 90))
        life.take(.passcodeRequired(uid: 2000, cause: .remote("lost")), at: .init(nanoseconds: 95))
        life.take(.saved(.init(rawValue: 1)), at: .init(nanoseconds: 100))
    }

    private func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
        var buffer: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(buffer) }
        guard getline(&buffer, &capacity, file) >= 0, let buffer else { return nil }
        return String(cString: buffer)
    }

    /// Removes the characters that a formatter may change.
    private func bare(_ text: String) -> String {
        text.filter { !$0.isWhitespace && !",;_".contains($0) }
    }
}

import Contract
import TestSupport
import Testing

@testable import FaceSensor

/// Simulated findings of the engine.
enum Seen {
    /// A person's numbers, at a distance from person 0.
    ///
    /// Faces of a person are close.
    static func numbers(_ distance: Float = 0, person: Int = 0) -> FaceDescriptor {
        var values = [Float](repeating: 0, count: FaceDescriptor.count)
        values[person * 2] = person == 0 ? 0 : 1
        values[127] = distance
        // The fallback is never used: the numbers are valid.
        return FaceDescriptor(values) ?? numbers()
    }

    static func face(
        _ distance: Float = 0,
        person: Int = 0,
        x: Float = 0.5,
        y: Float = 0.5,
        size: Float = 0.3,
        yaw: Float = 0,
        brightness: Float = 0.5,
        eyes: Float = 1,
        of picture: Float = 0.5
    ) -> FrameFindings {
        FrameFindings(
            brightness: picture,
            darkness: 0.1,
            glare: 0,
            count: 1,
            face: FrameFindings.Face(
                x: x,
                y: y,
                size: size,
                yaw: yaw,
                brightness: brightness,
                eyes: eyes
            ),
            numbers: numbers(distance, person: person)
        )
    }

    static let empty = FrameFindings(brightness: 0.5, darkness: 0.1, glare: 0, count: 0)
    static let dark = FrameFindings(brightness: 0.05, darkness: 0.9, glare: 0, count: 0)
    static let stranger = face(person: 3)
    static let me = face(0.3)

    static var two: FrameFindings {
        var sight = me
        sight.count = 2
        sight.hasRival = true
        sight.numbers = nil
        return sight
    }
}

@Suite struct RecognitionTests {
    private func recognition(
        _ threshold: FaceThreshold = .ordinary,
        asksForAttention: Bool = false
    ) -> Recognition {
        let mine = FaceTemplate(id: "mine", faces: [Seen.numbers(), Seen.numbers(9)])
        let other = FaceTemplate(id: "other", faces: [Seen.numbers(person: 5)])
        return Recognition(
            templates: [mine, other],
            threshold: threshold,
            asksForAttention: asksForAttention
        )
    }

    private func outcomes(
        _ sights: [FrameFindings],
        _ threshold: FaceThreshold = .ordinary,
        asksForAttention: Bool = false
    ) -> [Recognition.Outcome] {
        var recognition = recognition(threshold, asksForAttention: asksForAttention)
        return sights.map { recognition.see($0) }
    }

    @Test("Two matching frames in a row are a match, a single frame is not")
    func two() {
        #expect(outcomes([Seen.me, Seen.me]) == [.nothing, .match("mine")])
        #expect(outcomes([Seen.me, Seen.stranger, Seen.me]) == [.nothing, .nothing, .nothing])
        #expect(outcomes([Seen.face(person: 5), Seen.face(person: 5)]).last == .match("other"))
    }

    @Test("Two frames that match different templates are no match")
    func mixed() {
        let other = Seen.face(person: 5)
        #expect(outcomes([Seen.me, other, Seen.me, other]).allSatisfy { $0 == .nothing })
    }

    @Test("The ordinary threshold is 0.40 and the strict threshold is 0.35")
    func thresholds() {
        let near = [Seen.face(0.39), Seen.face(0.39)]
        #expect(outcomes(near).last == .match("mine"))
        #expect(outcomes(near, .strict).last == .nothing)
        #expect(outcomes([Seen.face(0.34), Seen.face(0.34)], .strict).last == .match("mine"))
        #expect(outcomes([Seen.face(0.41), Seen.face(0.41)]).last == .nothing)
    }

    @Test("A template near a face of the cohort matches only nearer than that face")
    func ownLimit() throws {
        func face(_ distance: Float) throws -> FaceDescriptor {
            var values = try Studio.faceOfCohort()
            values[127] += distance
            return try #require(FaceDescriptor(values))
        }
        let template = FaceTemplate(id: "mine", faces: [try face(0.46)])
        #expect(abs(template.limit - 0.36) < 0.001)
        for (distance, isMatch) in [(0.30, true), (0.39, false)] as [(Float, Bool)] {
            var recognition = Recognition(templates: [template], threshold: .ordinary)
            var sight = Seen.me
            sight.numbers = try face(0.46 + distance)
            _ = recognition.see(sight)
            #expect((recognition.see(sight) == .match("mine")) == isMatch, "\(distance)")
        }
        // No other face of the cohort is that near.
        #expect(FaceTemplate(id: "other", faces: [Seen.numbers()]).limit > 0.40)
    }

    @Test("Dark frames are skipped, and do not separate two matching frames")
    func dark() {
        #expect(outcomes([Seen.me, Seen.dark, Seen.me]).last == .match("mine"))
        let night = outcomes([FrameFindings](repeating: Seen.dark, count: 100))
        #expect(night.count { $0 == .hint(.tooDark) } == 2)
        #expect(!night.contains(.miss))
    }

    @Test("With the check of attention, closed eyes give a hint: no match and no miss")
    func closedEyes() {
        func attentive(_ sights: [FrameFindings]) -> [Recognition.Outcome] {
            outcomes(sights, asksForAttention: true)
        }
        let asleep = Seen.face(0.3, eyes: 0.2)
        let seen = attentive([FrameFindings](repeating: asleep, count: 50))
            .filter { $0 != .nothing }
        #expect(seen == [.hint(.openEyes)])
        #expect(attentive([Seen.me, asleep, Seen.me]) == [.nothing, .nothing, .nothing])
        #expect(attentive([asleep, Seen.me, Seen.me]).last == .match("mine"))
        let stranger = Seen.face(person: 3, eyes: 0.2)
        #expect(!attentive([FrameFindings](repeating: stranger, count: 50)).contains(.miss))
        // By default, closed eyes match.
        #expect(outcomes([asleep, asleep]) == [.nothing, .match("mine")])
    }

    @Test("Two equally large faces never match, and give a hint")
    func crowd() {
        let seen = outcomes([Seen.me, Seen.two, Seen.me, Seen.two, Seen.two, Seen.two])
        #expect(seen == [.nothing, .nothing, .nothing, .nothing, .nothing, .hint(.onePerson)])
    }

    @Test("A bright or dark picture around a well-lit face is no fault")
    func background() {
        var (window, night) = (Seen.me, Seen.me)
        window.glare = 0.7
        night.darkness = 0.86
        for sight in [window, night] { #expect(outcomes([sight, sight]).last == .match("mine")) }
    }

    @Test("Ten good frames of another person are one miss")
    func stranger() {
        let seen = outcomes([FrameFindings](repeating: Seen.stranger, count: 20))
        #expect(seen.indices.filter { seen[$0] == .miss } == [9, 19])
    }

    @Test("Frames of low quality give a hint and no miss")
    func notGood() {
        let cases: [(FrameFindings, SensorHint)] = [
            (Seen.face(person: 3, size: 0.1), .moveCloser),
            (Seen.face(person: 3, size: 0.8), .moveAway),
            (Seen.face(person: 3, x: 0.1), .center),
            (Seen.face(person: 3, y: 0.9), .center),
            (Seen.face(person: 3, yaw: 0.3), .lookAtCamera),
            (Seen.face(person: 3, yaw: -0.3), .lookAtCamera),
            (Seen.face(person: 3, brightness: 0.02), .tooDark),
        ]
        for (sight, hint) in cases {
            let seen = outcomes([FrameFindings](repeating: sight, count: 50))
            #expect(seen.contains(.hint(hint)), "\(hint)")
            #expect(!seen.contains(.miss), "\(hint)")
        }
        var glare = Seen.empty
        glare.glare = 0.7
        let dazzled = [FrameFindings](repeating: glare, count: Recognition.emptyFrames)
        #expect(outcomes(dazzled).contains(.hint(.tooBright)))
        let shaky = (0..<20).map { Seen.face(person: 3, x: $0 % 2 == 0 ? 0.4 : 0.6) }
        #expect(outcomes(shaky).contains(.hint(.holdStill)))
    }

    @Test("Frames that cannot count as a miss are never compared, and never match")
    func notCompared() {
        let sights = [
            Seen.face(0.3, size: 0.1), Seen.face(0.3, size: 0.8), Seen.face(0.3, x: 0.1),
            Seen.face(0.3, y: 0.9), Seen.face(0.3, yaw: 0.3), Seen.face(0.3, yaw: -0.3),
            Seen.face(0.3, brightness: 0.02), Seen.face(0.3, brightness: 0.95),
        ]
        for sight in sights {
            var recognition = recognition()
            for _ in 0..<50 {
                let outcome = recognition.see(sight)
                if case .match = outcome { Issue.record("\(sight) matched") }
                #expect(!recognition.hasCompared)
            }
        }
    }

    @Test("A moving or distant face is compared and counted")
    func moving() {
        let shaky = { (person: Int) in
            (0..<20).map { Seen.face(0.3, person: person, x: $0 % 2 == 0 ? 0.4 : 0.6) }
        }
        #expect(outcomes(shaky(0)).contains(.match("mine")))
        let seen = outcomes(shaky(3))
        #expect(seen.indices.filter { seen[$0] == .miss } == [9, 19])
        #expect(
            outcomes([FrameFindings](repeating: Seen.face(0.3, size: 0.13), count: 2)).last
                == .match("mine")
        )
        let far = outcomes([FrameFindings](repeating: Seen.face(person: 3, size: 0.13), count: 10))
        #expect(far.last == .miss)
    }

    @Test("A matching frame resets the count of misses, and leaving does not")
    func forgotten() {
        let nine = [FrameFindings](repeating: Seen.stranger, count: 9)
        let empty = [FrameFindings](repeating: Seen.empty, count: 3 * Recognition.emptyFrames)
        #expect(outcomes(nine + empty + nine).contains(.miss))
        #expect(!outcomes(nine + [Seen.me] + nine).contains(.miss))
    }

    @Test("An empty scene gives no match and no miss, but a hint")
    func empty() {
        let seen = outcomes([FrameFindings](repeating: Seen.empty, count: 100))
        #expect(
            Set(seen.map { "\($0)" }) == ["nothing", "\(Recognition.Outcome.hint(.lookAtCamera))"]
        )
    }

    @Test("A face has exactly 128 finite numbers")
    func numbers() {
        #expect(FaceDescriptor([Float](repeating: 0, count: 127)) == nil)
        #expect(FaceDescriptor([Float](repeating: .nan, count: 128)) == nil)
        #expect(FaceDescriptor([Float](repeating: .infinity, count: 128)) == nil)
        #expect(Seen.numbers(3).distance(to: Seen.numbers(-1)) == 4)
    }
}

@Suite struct LivenessCheckTests {
    private static let seeds: ClosedRange<UInt64> = 1...8

    /// Collects outcomes for frames that alternate between emitter on and off.
    private struct Sitting {
        var recognition: Recognition
        var outcomes: [Recognition.Outcome] = []

        init(_ seed: UInt64) {
            var generator = SeededGenerator(seed)
            recognition = Recognition(
                templates: [FaceTemplate(id: "mine", faces: [Seen.numbers()])],
                threshold: .ordinary,
                livenessCheck: LivenessCheck(using: &generator)
            )
        }

        /// The requested side: 1 for the right side of the picture, -1 for the left.
        var side: Float? {
            if outcomes.contains(.hint(.turnLeft)) { return 1 }
            return outcomes.contains(.hint(.turnRight)) ? -1 : nil
        }
        var matches: Bool { outcomes.contains(.match("mine")) }

        mutating func show(_ sight: FrameFindings, _ count: Int, isAlternating: Bool = true) {
            for _ in 0..<count {
                outcomes.append(recognition.see(sight))
                if isAlternating { outcomes.append(recognition.see(Seen.dark)) }
            }
        }

        mutating func turn(_ side: Float) {
            for step: Float in [0.05, 0.1, 0.15, 0.2] {
                show(Seen.face(0.3 + step, yaw: side * step), 1)
            }
        }
    }

    @Test("A user who turns to the requested side and back matches", arguments: seeds)
    func turns(_ seed: UInt64) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 5)
        let side = try #require(sitting.side)
        #expect(!sitting.matches)
        sitting.turn(side)
        #expect(!sitting.matches)
        sitting.show(Seen.face(0.38, yaw: side * 0.05), 2)
        #expect(sitting.matches)
    }

    @Test("Without the emitter's alternating light, no turn is requested", arguments: seeds)
    func steadyLight(_ seed: UInt64) {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 200, isAlternating: false)
        #expect(sitting.side == nil && !sitting.matches)
    }

    @Test("A user who keeps still, like a photograph, fails after a while", arguments: seeds)
    func keepsStill(_ seed: UInt64) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 100)
        #expect(sitting.side != nil && !sitting.matches)
        // Every second frame is dark, and dark frames do not count towards the limit.
        let asked = try #require(sitting.outcomes.firstIndex { $0.isTurn })
        let failed = try #require(sitting.outcomes.firstIndex(of: .miss))
        #expect(failed - asked == 2 * LivenessCheck.frames)
    }

    @Test("A user who hesitates for some seconds and then turns matches", arguments: seeds)
    func hesitates(_ seed: UInt64) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, LivenessCheck.frames - 10)
        let side = try #require(sitting.side)
        sitting.turn(side)
        sitting.show(Seen.me, 2)
        #expect(sitting.matches && !sitting.outcomes.contains(.miss))
    }

    @Test("Users are asked for either side")
    func bothSides() {
        let sides = Self.seeds.map { seed in
            var sitting = Sitting(seed)
            sitting.show(Seen.me, 5)
            return sitting.side
        }
        #expect(Set(sides) == [1, -1])
    }

    @Test("A photograph that is turned does not turn far enough", arguments: seeds)
    func flatPhotograph(_ seed: UInt64) {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 5)
        for yaw: Float in [0.05, 0.1, 0.13, 0.1, 0, -0.1, -0.13, 0] {
            sitting.show(Seen.face(0.3, yaw: yaw), 2)
        }
        #expect(!sitting.matches)
    }

    @Test("A turn to the wrong side fails", arguments: seeds)
    func wrongSide(_ seed: UInt64) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 5)
        let side = try #require(sitting.side)
        sitting.show(Seen.face(0.4, yaw: -side * 0.25), 1)
        #expect(sitting.outcomes.contains(.miss))
        sitting.show(Seen.me, 1)
        #expect(!sitting.matches)
    }

    @Test("Another face in between restarts the check", arguments: seeds)
    func swap(_ seed: UInt64) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 5)
        let side = try #require(sitting.side)
        sitting.show(Seen.face(person: 3, yaw: side * 0.25), 1)
        sitting.show(Seen.me, 3)
        #expect(!sitting.matches)
    }

    @Test(
        "An empty frame or two faces after the turn restart the check",
        arguments: seeds,
        [Seen.empty, Seen.two]
    )
    func lost(_ seed: UInt64, _ between: FrameFindings) throws {
        var sitting = Sitting(seed)
        sitting.show(Seen.me, 5)
        sitting.turn(try #require(sitting.side))
        sitting.show(between, 1)
        sitting.show(Seen.me, 3)
        #expect(!sitting.matches)
    }

    @Test("Covering the lens after the turn restarts the check, a single lost frame does not")
    func covered() throws {
        for seed in Self.seeds {
            // These are in addition to the dark frame of each pair.
            for (frames, matches) in [(1, true), (2, false), (10, false)] {
                var sitting = Sitting(seed)
                sitting.show(Seen.me, 12)
                sitting.turn(try #require(sitting.side))
                sitting.show(Seen.dark, frames, isAlternating: false)
                sitting.show(Seen.me, 3)
                #expect(sitting.matches == matches, "\(seed): \(frames)")
            }
        }
    }
}

extension Recognition.Outcome {
    fileprivate var isTurn: Bool { self == .hint(.turnLeft) || self == .hint(.turnRight) }
}

@Suite struct EnrolmentTests {
    private func outcomes(_ sights: [FrameFindings]) -> [Enrolment.Outcome] {
        var enrolment = Enrolment(threshold: .ordinary)
        return sights.map { enrolment.see($0) }
    }

    @Test("Five good, different frames are the five stages")
    func five() {
        let sights = (0..<5).map { Seen.face(Float($0) * 0.06) }
        let faces = sights.compactMap(\.numbers)
        #expect(outcomes(sights) == [.stage(1), .stage(2), .stage(3), .stage(4), .done(faces)])
    }

    @Test("A repeated picture is one stage, and gives a hint to move")
    func frozen() {
        let seen = outcomes([FrameFindings](repeating: Seen.me, count: 300))
        let told = seen.filter { $0 != .nothing }
        #expect(told.first == .stage(1))
        #expect(told.count > 1 && told.dropFirst().allSatisfy { $0 == .hint(.turnLeft) })
    }

    @Test("A user who keeps still advances slowly")
    func still() {
        let seen = outcomes((0..<80).map { Seen.face(Float($0) * 0.003) })
        #expect(seen.contains { if case .done = $0 { true } else { false } })
        #expect(seen.firstIndex(of: .stage(2)) ?? 0 > Enrolment.still)
    }

    @Test("Another person's frames do not join a template")
    func another() {
        let seen = outcomes([Seen.me] + [FrameFindings](repeating: Seen.stranger, count: 50))
        #expect(seen.first == .stage(1))
        #expect(!seen.contains(.stage(2)))
        #expect(seen.contains(.hint(.lookAtCamera)))
    }

    @Test("Frames of low quality are no stage, and give a hint")
    func notGood() {
        let cases: [(FrameFindings, SensorHint)] = [
            (Seen.face(size: 0.1), .moveCloser), (Seen.face(x: 0.9), .center),
            (Seen.face(yaw: 0.2), .lookAtCamera), (Seen.empty, .lookAtCamera),
            (Seen.dark, .tooDark), (Seen.two, .onePerson),
        ]
        for (sight, hint) in cases {
            let seen = outcomes([FrameFindings](repeating: sight, count: 40))
                .filter { $0 != .nothing }
            #expect(seen == [.hint(hint)], "\(hint)")
        }
    }
}

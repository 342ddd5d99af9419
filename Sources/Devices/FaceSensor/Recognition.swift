package import Contract

/// What makes two faces the same one.
package struct FaceThreshold: Hashable, Sendable {
    /// The largest distance that is a match.
    package let distance: Float

    /// The ordinary one; docs/face/figures.md says how many good pictures each of them refuses.
    package static let ordinary = Self(distance: 0.45)
    package static let strict = Self(distance: 0.40)
}

package struct FaceTemplate: Hashable, Sendable {
    package let id: String
    package let faces: [FaceNumbers]

    package init(id: String, faces: [FaceNumbers]) {
        self.id = id
        self.faces = faces
    }
}

/// One Verify: decides frame by frame whether the right person is there.
///
/// A match is two frames in a row, each with exactly one face, that match one template, with open
/// eyes where attention is asked for. An attempt has failed after ten frames that don't: each one
/// that is compared counts, and one that is not good enough to count is not compared.
package struct Recognition {
    /// The result of a frame.
    package enum Outcome: Hashable, Sendable {
        /// Nothing to tell.
        case nothing
        /// Something to do better.
        case hint(SensorHint)
        /// An attempt has failed; the scan goes on.
        case noMatch
        /// It is the person of this template.
        case match(String)
    }

    static let framesOfMatch = 2
    static let framesOfAttempt = 10
    /// An infrared camera has a dark frame between two lit ones.
    static let darkFrames = 8
    /// So many in a row it may have where one got lost; in more the face may become another one.
    static let darkFramesBetween = 2
    static let emptyFrames = 10

    private let templates: [FaceTemplate]
    private let threshold: FaceThreshold
    private let asksForAttention: Bool
    /// Narrower than an enrolment wants it: people sit back, and the network needs no more.
    static let smallest: Float = 0.12

    /// Whether the face of the last frame was compared with the templates.
    private(set) var hasCompared = false
    private var advice = Advice(smallest: smallest)
    private var candidate: (id: String, frames: Int)?
    private var failures = 0
    /// How many dark frames there were since the last lit one.
    private var dark = 0
    private var challenge: LifeCheck?

    /// Begins; `lifeCheck` is what a match has to pass as well, nil: nothing.
    package init(
        templates: [FaceTemplate],
        threshold: FaceThreshold,
        asksForAttention: Bool = true,
        lifeCheck: LifeCheck? = nil
    ) {
        self.asksForAttention = asksForAttention
        self.templates = templates
        self.threshold = threshold
        challenge = lifeCheck
    }

    package mutating func see(_ sight: Sight) -> Outcome {
        challenge?.see(sight)
        hasCompared = false
        guard !sight.isDark else {
            dark += 1
            if dark > Self.darkFramesBetween { loseFace() }
            return advise(.tooDark, patience: Self.darkFrames)
        }
        dark = 0
        let fault = advice.fault(of: sight)
        // A head that turns as it was told to attends; its eyes are seen from the side.
        let isAttentive =
            !asksForAttention || sight.face?.isAttentive == true || challenge?.isTurning == true
        // What never counts as a miss could be tried without end.
        let counts = fault == nil || fault == .holdStill || challenge?.isTurning == true
        guard sight.count == 1, let numbers = sight.numbers, isAttentive, counts else {
            loseFace()
            let isEmpty = sight.count == 0
            let hint = fault ?? (isAttentive ? nil : .lookAtCamera)
            return advise(hint, patience: isEmpty ? Self.emptyFrames : Advice.patience)
        }
        hasCompared = true
        if let id = match(numbers, threshold.distance) { return recognised(id, sight) }
        return unknown(numbers, sight.face, fault)
    }

    private mutating func recognised(_ id: String, _ sight: Sight) -> Outcome {
        _ = advise(nil)
        failures = 0
        let frames = candidate?.id == id ? (candidate?.frames ?? 0) + 1 : 1
        candidate = (id, frames)
        guard frames >= Self.framesOfMatch else { return .nothing }
        guard challenge != nil else { return .match(id) }
        switch challenge?.answer(sight.face) {
        case .ask(let hint): return .hint(hint)
        case .passed: return .match(id)
        case .failed:
            candidate = nil
            return .noMatch
        case .waiting, nil: return .nothing
        }
    }

    private mutating func unknown(
        _ numbers: FaceNumbers,
        _ face: Sight.Face?,
        _ fault: SensorHint?
    ) -> Outcome {
        // A head that turns away as requested must not count as a stranger's.
        if let known = candidate?.id, challenge?.isTurning == true,
            match(numbers, LifeCheck.distanceWhileTurned) == known
        {
            guard challenge?.answer(face) == .failed else { return .nothing }
            candidate = nil
            return .noMatch
        }
        loseFace()
        // Of a head that turns as it was told to.
        if let fault, fault != .holdStill { return advise(fault) }
        failures += 1
        guard failures >= Self.framesOfAttempt else { return advise(fault) }
        failures = 0
        return .noMatch
    }

    /// What is seen next may be another face.
    private mutating func loseFace() {
        candidate = nil
        challenge?.loseFace()
    }

    private func match(_ numbers: FaceNumbers, _ limit: Float) -> String? {
        var best: (id: String, distance: Float)?
        for template in templates {
            for face in template.faces {
                let distance = face.distance(to: numbers)
                if distance <= limit, distance < best?.distance ?? .infinity {
                    best = (template.id, distance)
                }
            }
        }
        return best?.id
    }

    private mutating func advise(
        _ hint: SensorHint?,
        patience: Int = Advice.patience
    ) -> Outcome {
        advice.tell(hint, patience: patience).map { .hint($0) } ?? .nothing
    }
}

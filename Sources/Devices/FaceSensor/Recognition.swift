package import Contract

/// The limit on the distance between two faces of a person.
package struct FaceThreshold: Hashable, Sendable {
    package let distance: Float

    /// The default; docs/face/figures.md says how many good pictures each threshold refuses.
    package static let ordinary = Self(distance: 0.40)
    package static let strict = Self(distance: 0.35)
}

package struct FaceTemplate: Hashable, Sendable {
    package let id: String
    package let faces: [FaceDescriptor]
    /// The largest distance of a match with this template, for any threshold.
    let limit: Float

    package init(id: String, faces: [FaceDescriptor]) {
        self.id = id
        self.faces = faces
        limit = Cohort.limit(of: faces)
    }
}

/// Decides frame by frame whether an enrolled user is in front of the camera.
///
/// A match needs two frames in a row, with the largest face matching a single template. If
/// attention is required, the eyes must be open.
///
/// An attempt fails after ten compared frames without a match. Frames of too low quality are
/// neither compared nor counted.
package struct Recognition {
    package enum Outcome: Hashable, Sendable {
        case nothing
        case hint(SensorHint)
        case miss
        case match(String)
    }

    static let framesOfMatch = 2
    static let framesOfAttempt = 10
    /// Dark frames before a hint; an infrared camera has a dark frame between two lit frames.
    static let darkFrames = 8
    /// Dark frames in a row during which the face cannot have been replaced.
    ///
    /// Two mean a lost frame.
    static let darkFramesBetween = 2
    static let emptyFrames = 10

    private let templates: [FaceTemplate]
    private let threshold: FaceThreshold
    private let asksForAttention: Bool
    /// Lower than the limit of an enrolment: users sit further back, and the network can handle it.
    static let smallest: Float = 0.12

    private(set) var hasCompared = false
    private var advice = Advice(smallest: smallest)
    private var candidate: (id: String, frames: Int)?
    private var failures = 0
    /// Dark frames since the last lit frame.
    private var dark = 0
    private var challenge: LivenessCheck?

    /// Starts a Verify; a match also has to pass `livenessCheck` unless it is nil.
    package init(
        templates: [FaceTemplate],
        threshold: FaceThreshold,
        asksForAttention: Bool = false,
        livenessCheck: LivenessCheck? = nil
    ) {
        self.asksForAttention = asksForAttention
        self.templates = templates
        self.threshold = threshold
        challenge = livenessCheck
    }

    package mutating func see(_ sight: FrameFindings) -> Outcome {
        challenge?.see(sight)
        hasCompared = false
        // With an infrared camera, compare only frames that its emitter lights.
        guard !sight.isDark, challenge == nil || !sight.isUnlit else {
            dark += 1
            if dark > Self.darkFramesBetween { loseFace() }
            return advise(.tooDark, patience: Self.darkFrames)
        }
        dark = 0
        let fault = advice.fault(of: sight)
        // A head that turns as requested counts as attentive: its eyes are seen from the side.
        let isAttentive =
            !asksForAttention || sight.face?.hasOpenEyes == true || challenge?.isTurning == true
        // Compare only frames that can count as a miss. Otherwise an attacker has unlimited tries.
        let counts = fault == nil || fault == .holdStill || challenge?.isTurning == true
        guard let numbers = sight.numbers, isAttentive, counts else {
            loseFace()
            let isEmpty = sight.count == 0
            let hint = fault ?? (isAttentive ? nil : .openEyes)
            return advise(hint, patience: isEmpty ? Self.emptyFrames : Advice.patience)
        }
        hasCompared = true
        if let id = match(numbers) { return recognised(id, sight) }
        return unknown(numbers, sight.face, fault)
    }

    private mutating func recognised(_ id: String, _ sight: FrameFindings) -> Outcome {
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
            return .miss
        case .waiting, nil: return .nothing
        }
    }

    private mutating func unknown(
        _ numbers: FaceDescriptor,
        _ face: FrameFindings.Face?,
        _ fault: SensorHint?
    ) -> Outcome {
        // A head that turns as requested looks different and must not count as a miss.
        if let known = candidate?.id, challenge?.isTurning == true,
            match(numbers, isTurned: true) == known
        {
            guard challenge?.answer(face) == .failed else { return .nothing }
            candidate = nil
            return .miss
        }
        loseFace()
        // Only a head that turns as requested is compared despite this fault.
        if let fault, fault != .holdStill { return advise(fault) }
        failures += 1
        guard failures >= Self.framesOfAttempt else { return advise(fault) }
        failures = 0
        return .miss
    }

    /// Starts over: the next frame may show another face.
    private mutating func loseFace() {
        candidate = nil
        challenge?.loseFace()
    }

    private func match(_ numbers: FaceDescriptor, isTurned: Bool = false) -> String? {
        var best: (id: String, distance: Float)?
        for template in templates {
            let limit =
                isTurned
                ? LivenessCheck.distanceWhileTurned : min(threshold.distance, template.limit)
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

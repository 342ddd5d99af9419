package import Contract

/// One Enroll: takes five good frames of one face, no two alike.
package struct Enrolment {
    /// The result of a frame.
    package enum Outcome: Hashable, Sendable {
        /// Nothing to tell.
        case nothing
        /// Something to do better.
        case hint(SensorHint)
        /// The number of frames that are taken.
        case stage(UInt32)
        /// All frames are taken: the faces of the template.
        case done([FaceNumbers])
    }

    package static let stages: UInt32 = 5
    /// Frames closer to each other than this show the same pose.
    static let nearest: Float = 0.05
    /// After this many good frames, enrolment goes on even if the person keeps still.
    static let still = 12
    /// A motionless picture never makes progress.
    static let frozen: Float = 0.01

    private let threshold: FaceThreshold
    private let asksForAttention: Bool
    private var advice = Advice()
    private var taken: [FaceNumbers] = []
    private var sinceTaken = 0

    /// All frames must be within the match distance of the first.
    package init(threshold: FaceThreshold, asksForAttention: Bool = true) {
        self.threshold = threshold
        self.asksForAttention = asksForAttention
    }

    package mutating func see(_ sight: Sight) -> Outcome {
        guard !sight.isDark else { return advise(.tooDark, patience: Recognition.darkFrames) }
        if let fault = advice.fault(of: sight) {
            return advise(fault, patience: sight.count == 0 ? Recognition.emptyFrames : nil)
        }
        guard let numbers = sight.numbers else { return .nothing }
        if asksForAttention, sight.face?.isAttentive != true { return advise(.lookAtCamera) }
        // Somebody else in front of the camera is not enrolled with the first one.
        if let first = taken.first, first.distance(to: numbers) > threshold.distance {
            return advise(.lookAtCamera)
        }
        sinceTaken += 1
        let nearest = taken.map { $0.distance(to: numbers) }.min() ?? .infinity
        let needed = sinceTaken > Self.still ? Self.frozen : Self.nearest
        // Who moves not at all, or is a picture, is told what would help.
        let isFrozen = sinceTaken > Self.still && nearest < Self.frozen
        guard nearest >= needed else { return advise(isFrozen ? .turnLeft : nil) }
        taken.append(numbers)
        sinceTaken = 0
        return taken.count < Int(Self.stages) ? .stage(UInt32(taken.count)) : .done(taken)
    }

    private mutating func advise(_ hint: SensorHint?, patience: Int? = nil) -> Outcome {
        advice.tell(hint, patience: patience ?? Advice.patience).map { .hint($0) } ?? .nothing
    }
}

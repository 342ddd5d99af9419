package import Contract

/// Enrols a face: collects five good frames with different poses.
package struct Enrolment {
    package enum Outcome: Hashable, Sendable {
        case nothing
        case hint(SensorHint)
        case stage(UInt32)
        /// All frames are collected: the faces of the template.
        case done([FaceDescriptor])
    }

    package static let stages: UInt32 = 5
    /// The smallest distance between frames with different poses.
    static let nearest: Float = 0.05
    /// Good frames after which a smaller change suffices, because the user keeps still.
    static let still = 12
    /// The smallest distance that makes progress, so that a motionless picture never does.
    static let frozen: Float = 0.01

    private let threshold: FaceThreshold
    private var advice = Advice()
    private var taken: [FaceDescriptor] = []
    private var sinceTaken = 0

    /// Requires the faces of all frames to match the first.
    package init(threshold: FaceThreshold) {
        self.threshold = threshold
    }

    package mutating func see(_ sight: FrameFindings) -> Outcome {
        guard !sight.isDark else { return advise(.tooDark, patience: Recognition.darkFrames) }
        if let fault = advice.fault(of: sight) {
            return advise(fault, patience: sight.count == 0 ? Recognition.emptyFrames : nil)
        }
        guard let numbers = sight.numbers else { return .nothing }
        // Do not enrol a second person who steps in front of the camera.
        if let first = taken.first, first.distance(to: numbers) > threshold.distance {
            return advise(.lookAtCamera)
        }
        sinceTaken += 1
        let nearest = taken.map { $0.distance(to: numbers) }.min() ?? .infinity
        let needed = sinceTaken > Self.still ? Self.frozen : Self.nearest
        // A hint helps a user who keeps perfectly still; a picture cannot follow it.
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

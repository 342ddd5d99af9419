import Contract

/// Checks liveness with an infrared camera: light from its emitter, and a turn of the head.
///
/// The user turns to a random side. The check refuses photographs and screens, but not masks. It
/// has been tested on pictures only.
package struct LivenessCheck: Sendable {
    enum Progress: Hashable {
        case waiting
        case ask(SensorHint)
        case passed
        case failed
    }

    /// Changes between lit and dark frames that prove that the emitter works.
    static let alternations = 4
    /// The change in brightness that the emitter must cause.
    static let contrast: Float = 0.08
    /// The yaw of a turned head; a flat photograph that is turned stays below 0.13.
    static let turn: Float = 0.18
    static let distanceWhileTurned: Float = 0.60
    /// Lit frames in which the head has to turn: about five seconds.
    static let frames = 80

    private enum Stage {
        case matching
        case asked(left: Int)
        case turned
    }

    private let isLeft: Bool
    private var stage = Stage.matching
    private var before: (brightness: Float, isUnlit: Bool)?
    private var changes = 0

    /// Requests a turn to an unpredictable side.
    package init(using generator: inout some RandomNumberGenerator) {
        isLeft = Bool.random(using: &generator)
    }

    /// True if the head is expected to be turned, or turning back.
    var isTurning: Bool {
        if case .matching = stage { false } else { true }
    }

    /// True if every other frame is dark, so that the emitter must be the source of light.
    var isLitByEmitter: Bool { changes >= Self.alternations }

    mutating func see(_ sight: FrameFindings) {
        defer { before = (sight.brightness, sight.isUnlit) }
        guard let before else { return }
        let isChange =
            before.isUnlit != sight.isUnlit
            && abs(before.brightness - sight.brightness) >= Self.contrast
        // A constant brightness means another source of light.
        changes = isChange ? min(changes + 1, Self.alternations * 4) : max(changes - 2, 0)
        if !sight.isUnlit, case .asked(let left) = stage { stage = .asked(left: left - 1) }
    }

    /// Starts over after the face was lost: another face may have replaced it.
    mutating func loseFace() { stage = .matching }

    mutating func answer(_ face: FrameFindings.Face?) -> Progress {
        guard isLitByEmitter, let face else { return .waiting }
        switch stage {
        case .matching:
            stage = .asked(left: Self.frames)
            return .ask(isLeft ? .turnLeft : .turnRight)
        case .asked(let left):
            // A person's left is on the right side of the picture.
            let way = isLeft ? face.yaw : -face.yaw
            guard left > 0, way > -Self.turn else {
                stage = .matching
                return .failed
            }
            if way >= Self.turn { stage = .turned }
            return .waiting
        case .turned:
            return abs(face.yaw) <= Advice.furthestTurned ? .passed : .waiting
        }
    }
}

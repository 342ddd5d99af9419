import Contract

/// The liveness check of an infrared camera: the light comes from its emitter, and the head turns
/// to the requested side.
///
/// It refuses a photograph and a screen that is held up. It does not refuse a mask, and was only
/// ever tested on pictures.
package struct LifeCheck: Sendable {
    /// What the person has to do, or has done.
    enum Progress: Hashable {
        case waiting
        case ask(SensorHint)
        case passed
        case failed
    }

    /// The number of changes between lit and dark that shows that the emitter works.
    static let alternations = 4
    /// What the emitter must add to the brightness.
    static let contrast: Float = 0.08
    /// How far the head has to turn; a flat photograph that is turned stays below 0.13.
    static let turn: Float = 0.18
    static let distanceWhileTurned: Float = 0.60
    /// The number of lit frames in which the head has to turn: about five seconds.
    static let frames = 80

    private enum Stage {
        case matching
        case asked(left: Int)
        case turned
    }

    private let isLeft: Bool
    private var stage = Stage.matching
    private var before: (brightness: Float, isDark: Bool)?
    private var changes = 0

    /// Asks for a turn to a side that can't be predicted.
    package init(using generator: inout some RandomNumberGenerator) {
        isLeft = Bool.random(using: &generator)
    }

    /// Whether the head is expected to be turned, or on its way back.
    var isTurning: Bool {
        if case .matching = stage { false } else { true }
    }

    /// Whether the light comes from the emitter: every other frame is dark.
    var isLitByEmitter: Bool { changes >= Self.alternations }

    /// Takes the light of every frame.
    mutating func see(_ sight: Sight) {
        defer { before = (sight.brightness, sight.isDark) }
        guard let before else { return }
        let isChange =
            before.isDark != sight.isDark
            && abs(before.brightness - sight.brightness) >= Self.contrast
        // A picture whose brightness doesn't change is lit by something else.
        changes = isChange ? min(changes + 1, Self.alternations * 4) : max(changes - 2, 0)
        if !sight.isDark, case .asked(let left) = stage { stage = .asked(left: left - 1) }
    }

    /// The face was lost, so what was shown before may have been another face.
    mutating func loseFace() { stage = .matching }

    /// Judges a frame that matches.
    mutating func answer(_ face: Sight.Face?) -> Progress {
        guard isLitByEmitter, let face else { return .waiting }
        switch stage {
        case .matching:
            stage = .asked(left: Self.frames)
            return .ask(isLeft ? .turnLeft : .turnRight)
        case .asked(let left):
            // The left of a person is the right of their picture.
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

import Contract

struct Advice {
    /// Frames in a row that must give an equal hint before it is shown.
    static let patience = 3
    /// Frames before a hint is repeated.
    static let repetition = 60

    static let smallest: Float = 0.16
    static let largest: Float = 0.62
    static let furthestAside: Float = 0.24
    static let furthestUpOrDown: Float = 0.30
    static let furthestTurned: Float = 0.12
    static let darkestFace: Float = 0.10
    static let brightestFace: Float = 0.92
    /// The largest movement between two frames, in face widths.
    static let fastest: Float = 0.10

    private let smallest: Float
    private var last: FrameFindings.Face?
    private var asked: SensorHint?
    private var times = 0
    private var lastHint: SensorHint?
    private var framesSinceHint = 0

    init(smallest: Float = Self.smallest) { self.smallest = smallest }

    /// Returns the fault of a frame that isn't dark, or nil.
    ///
    /// With a face its light counts, not that of a bright window or a dark room behind it.
    mutating func fault(of sight: FrameFindings) -> SensorHint? {
        let before = last
        last = sight.hasRival ? nil : sight.face
        guard let face = sight.face else {
            return sight.glare > 0.5 ? .tooBright : .lookAtCamera
        }
        // Which of two people authenticates?
        guard !sight.hasRival else { return .onePerson }
        if face.size < smallest { return .moveCloser }
        if face.size > Self.largest { return .moveAway }
        if abs(face.x - 0.5) > Self.furthestAside || abs(face.y - 0.5) > Self.furthestUpOrDown {
            return .center
        }
        if face.brightness > Self.brightestFace { return .tooBright }
        if abs(face.yaw) > Self.furthestTurned { return .lookAtCamera }
        if let before {
            let (x, y) = (face.x - before.x, (face.y - before.y) * 0.75)
            let way = (x * x + y * y).squareRoot() / face.size
            if way > Self.fastest { return .holdStill }
        }
        return nil
    }

    /// Returns the hint to show now, if any; `patience` frames must agree first.
    mutating func tell(_ hint: SensorHint?, patience: Int = Self.patience) -> SensorHint? {
        framesSinceHint += 1
        times = hint == asked ? times + 1 : 1
        asked = hint
        guard let hint, times >= patience else { return nil }
        guard hint != lastHint || framesSinceHint > Self.repetition else { return nil }
        lastHint = hint
        framesSinceHint = 0
        return hint
    }
}

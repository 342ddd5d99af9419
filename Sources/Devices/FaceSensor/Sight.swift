/// What was seen in one frame.
package struct Sight: Hashable, Sendable {
    /// The largest face of a frame; places and sizes are shares of the width or height.
    package struct Face: Hashable, Sendable {
        /// The middle of the face, 0 to 1 from the left.
        package var x: Float
        /// The middle of the face, 0 to 1 from the top.
        package var y: Float
        /// Its width as a share of the picture's.
        package var size: Float
        /// How far it is turned: the nose's offset along the line of the eyes, as a multiple of the
        /// distance between the eyes; positive to the right of the picture.
        package var yaw: Float
        /// Its brightness, 0 to 1.
        package var brightness: Float
        /// How much more the eyes change from side to side than up and down; 0: not measured.
        package var eyes: Float

        /// What closed eyes stay below.
        static let openEyes: Float = 0.39

        /// Whether its eyes are open, as far as can be measured.
        var isAttentive: Bool { eyes >= Self.openEyes }

        package init(
            x: Float,
            y: Float,
            size: Float,
            yaw: Float,
            brightness: Float,
            eyes: Float = 1
        ) {
            self.eyes = eyes
            self.x = x
            self.y = y
            self.size = size
            self.yaw = yaw
            self.brightness = brightness
        }
    }

    /// Mean brightness, 0 to 1.
    package var brightness: Float
    /// The share of dark pixels.
    package var darkness: Float
    /// The share of blinding pixels.
    package var glare: Float
    package var count: Int
    /// The largest of them.
    package var face: Face?
    /// The face in 128 numbers; only where there is exactly one.
    package var numbers: FaceNumbers?

    /// A frame above this is dark: it is not searched.
    package static let darknessLimit: Float = 0.6

    /// Whether the frame is too dark to be searched.
    package var isDark: Bool { darkness > Self.darknessLimit }

    /// What was seen.
    package init(
        brightness: Float,
        darkness: Float,
        glare: Float,
        count: Int,
        face: Face? = nil,
        numbers: FaceNumbers? = nil
    ) {
        self.brightness = brightness
        self.darkness = darkness
        self.glare = glare
        self.count = count
        self.face = face
        self.numbers = numbers
    }
}

/// A face as 128 numbers, in which two pictures of one person are close to each other.
package struct FaceNumbers: Hashable, Sendable {
    package static let count = 128

    /// The numbers, all finite.
    package let values: [Float]

    /// Nil unless there are 128 finite numbers.
    package init?(_ values: [Float]) {
        guard values.count == Self.count, values.allSatisfy(\.isFinite) else { return nil }
        self.values = values
    }

    /// How different two faces are: their Euclidean distance.
    package func distance(to other: Self) -> Float {
        var sum: Float = 0
        for (one, two) in zip(values, other.values) { sum += (one - two) * (one - two) }
        return sum.squareRoot()
    }
}

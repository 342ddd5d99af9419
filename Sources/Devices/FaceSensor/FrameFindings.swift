/// The findings about a frame.
package struct FrameFindings: Hashable, Sendable {
    /// The largest face of a frame.
    ///
    /// Positions and sizes are fractions of the frame's width or height.
    package struct Face: Hashable, Sendable {
        /// The middle of the face, 0 to 1 from the left.
        package var x: Float
        /// The middle of the face, 0 to 1 from the top.
        package var y: Float
        package var size: Float
        /// The nose's offset along the line of the eyes, in distances between the eyes.
        ///
        /// Positive values mean a turn to the right of the picture.
        package var yaw: Float
        /// From 0 to 1.
        package var brightness: Float
        /// Variation from side to side divided by that from top to bottom; 0 if not measured.
        package var eyes: Float

        /// The limit below which eyes count as closed.
        static let openEyes: Float = 0.39

        /// True if the eyes are open, as far as can be measured.
        var hasOpenEyes: Bool { eyes >= Self.openEyes }

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

    package var brightness: Float
    package var darkness: Float
    package var glare: Float
    package var count: Int
    /// Whether another face is about as large as the largest.
    package var hasRival: Bool
    package var face: Face?
    /// The numbers of the largest face, if it has no rival.
    package var numbers: FaceDescriptor?

    /// The darkness above which a frame is not searched for faces.
    package static let blackLimit: Float = 0.95
    private static let darknessLimit: Float = 0.6

    /// Whether most of the picture is dark, as it is without an infrared camera's emitter.
    var isUnlit: Bool { darkness > Self.darknessLimit }

    /// Whether there is too little light: on the face, or without a face in the picture.
    package var isDark: Bool {
        face.map { $0.brightness < Advice.darkestFace } ?? isUnlit
    }

    package init(
        brightness: Float,
        darkness: Float,
        glare: Float,
        count: Int,
        hasRival: Bool = false,
        face: Face? = nil,
        numbers: FaceDescriptor? = nil
    ) {
        self.brightness = brightness
        self.darkness = darkness
        self.glare = glare
        self.count = count
        self.hasRival = hasRival
        self.face = face
        self.numbers = numbers
    }
}

/// A face as 128 numbers; pictures of a person have a small distance.
package struct FaceDescriptor: Hashable, Sendable {
    package static let count = 128

    package let values: [Float]

    /// Returns nil unless there are 128 finite numbers.
    package init?(_ values: [Float]) {
        guard values.count == Self.count, values.allSatisfy(\.isFinite) else { return nil }
        self.values = values
    }

    package func distance(to other: Self) -> Float {
        var sum: Float = 0
        for (one, two) in zip(values, other.values) { sum += (one - two) * (one - two) }
        return sum.squareRoot()
    }
}

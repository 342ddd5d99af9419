import CFace

/// Measures templates against the built-in descriptors of other people's faces.
///
/// People differ in how many strangers the network takes for them. A template that is close to a
/// face of the cohort gets a limit of its own.
enum Cohort {
    /// The distance by which a match has to be nearer than the nearest face of the cohort.
    static let margin: Float = 0.05
    /// The limit below which the person would be refused too often to be enrolled.
    static let smallestLimit: Float = 0.30

    /// Returns the largest distance of a match with these faces.
    static func limit(of faces: [FaceDescriptor]) -> Float {
        (faces.map { cface_cohort_distance($0.values) }.min() ?? .infinity) - margin
    }
}

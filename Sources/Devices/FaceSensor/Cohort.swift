import CFace

/// Measures templates against the built-in descriptors of other people's faces.
///
/// People differ in how many strangers the network takes for them. A template that is close to a
/// face of the cohort gets a limit of its own.
enum Cohort {
    /// The distance by which a match has to be nearer than the nearest face of the cohort.
    static let margin: Float = 0.10
    /// The limit below which the person would be refused too often to be enrolled.
    static let smallestLimit: Float = 0.30

    /// Returns whether these faces are far enough from the cohort's to be matched.
    static func isDistinct(_ faces: [FaceDescriptor]) -> Bool {
        limit(of: faces) >= smallestLimit
    }

    /// Returns whether `face` leaves the limit of the enrolled faces as it is.
    static func allows(_ face: FaceDescriptor, besides enrolled: [FaceDescriptor]) -> Bool {
        limit(of: [face]) >= min(limit(of: enrolled), FaceThreshold.ordinary.distance)
    }

    /// Returns the largest distance of a match with these faces.
    static func limit(of faces: [FaceDescriptor]) -> Float {
        (faces.map { cface_cohort_distance($0.values) }.min() ?? .infinity) - margin
    }
}

/// Which templates a user has, and how often that has changed (L12).
package struct Enrolment: Hashable, Sendable {
    /// Increases with every change and never decreases.
    package var generation: UInt64 = 0
    /// What the generation was when biometric templates changed last: companions, such as a
    /// security key, are no biometry.
    package var biometricGeneration: UInt64 = 0
    /// The ids of the templates on each sensor, sorted by their bytes; never an empty list.
    package var templates: [String: [String]] = [:]

    /// The enrolment of a user of whom nothing is known.
    package init() {}

    /// Sets the ids that a sensor listed, in any order.
    ///
    /// Ids are compared byte by byte: two spellings of one character are two ids.
    /// - Returns: Whether they changed; then the generation went up.
    package mutating func update(sensor: String, ids: [String]) -> Bool {
        let sorted = Set(ids.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
        guard sorted != (templates[sensor] ?? []).map({ Array($0.utf8) }) else {
            return false
        }
        templates[sensor] =
            sorted.isEmpty ? nil : sorted.map { String(decoding: $0, as: UTF8.self) }
        generation += 1
        return true
    }
}

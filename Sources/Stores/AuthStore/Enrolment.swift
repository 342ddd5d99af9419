/// A user's templates, with a counter of their changes (L12).
package struct Enrolment: Hashable, Sendable {
    /// Increases with every change and never decreases.
    package var generation: UInt64 = 0
    /// The generation of the last change to biometric templates.
    ///
    /// Companions, such as a security key, are not biometric.
    package var biometricGeneration: UInt64 = 0
    /// The template ids of each sensor, sorted by their bytes.
    ///
    /// No list is empty.
    package var templates: [String: [String]] = [:]

    package init() {}

    /// Replaces a sensor's template ids, given in any order.
    ///
    /// Compares ids byte by byte, so two Unicode spellings of a text are two ids.
    /// - Returns: Whether the ids changed and the generation increased.
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

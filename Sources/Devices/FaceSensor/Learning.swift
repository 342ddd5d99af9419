import CameraDevice
import Glibc

/// Decides which faces a template may learn after its enrolment, and how many.
///
/// A new face is compared with enrolled faces only, never with learned faces. Learning therefore
/// cannot drift, and accepts no face that an enrolment would refuse.
enum Learning {
    /// The limit on learned faces of all of a user's templates together.
    static let maximum = 5
    /// Seconds that must pass before the next face may be learned.
    static let interval: Int64 = 24 * 3600

    /// Returns whether a face may be learned now.
    ///
    /// If the clock was set back, learning waits.
    static func isDue(after last: Int64, _ count: Int, at now: Int64) -> Bool {
        guard count < maximum else { return false }
        let (past, overflows) = now.subtractingReportingOverflow(last)
        return last == 0 || !overflows && past >= interval
    }

    /// Returns whether a face is well within the threshold, shows a new pose, and is no closer to
    /// the cohort than the enrolled faces may be.
    static func fits(
        _ face: FaceDescriptor,
        _ record: TemplateRecord,
        _ threshold: FaceThreshold
    ) -> Bool {
        let nearest = record.faces.map { $0.distance(to: face) }.min() ?? .infinity
        let isNew = record.learned.allSatisfy {
            $0.face.distance(to: face) >= Enrolment.nearest
        }
        // An enrolment also requires every face to match its first.
        guard let first = record.faces.first, first.distance(to: face) <= threshold.distance,
            Cohort.allows(face, besides: record.faces)
        else { return false }
        return nearest <= threshold.learningDistance && nearest >= Enrolment.nearest && isNew
    }
}

extension FaceThreshold {
    /// The largest distance of a face that may be learned: two thirds of the match distance.
    var learningDistance: Float { distance * 2 / 3 }
}

extension TemplateStore {
    package struct Learned: Hashable, Sendable {
        /// 32 random hexadecimal digits.
        package let id: String
        package let template: String
        /// Seconds since 1970.
        package let time: Int64
    }

    /// Adds a face to the template that it matched.
    ///
    /// The password has to confirm the user before.
    ///
    /// The template keeps its id.
    ///
    /// - Returns: False if ``Learning`` refuses the face. At most a face a day and five in total
    ///   are learned.
    /// - Throws: ``FaceFault/noTemplate`` if the template was removed.
    package func learn(
        _ face: FaceDescriptor,
        into id: String,
        of user: UInt32,
        camera: String,
        threshold: FaceThreshold,
        at moment: Int64? = nil
    ) throws(FaceFault) -> Bool {
        let now = moment ?? Int64(time(nil))
        let all = try records(of: user)
        guard var record = all.first(where: { $0.entry.id == id }) else { throw .noTemplate }
        // Faces that a newer cohort excludes make room.
        record.learned.removeAll { !Cohort.allows($0.face, besides: record.faces) }
        let last = all.map(\.lastLearned).max() ?? 0
        let others = all.filter { $0.entry.id != id }
        let count = others.reduce(record.learned.count) { $0 + $1.learned.count }
        guard now > 0, Learning.isDue(after: last, count, at: now),
            CameraIdentity.isSame(record.entry.camera, as: camera),
            Learning.fits(face, record, threshold)
        else { return false }
        record.learned.append(.init(id: Self.newIdentifier(), time: now, face: face))
        record.lastLearned = now
        try save(record, user: user)
        return true
    }

    /// Returns a user's learned faces, the oldest first.
    package func templateUpdates(of user: UInt32) throws(FaceFault) -> [Learned] {
        try records(of: user)
            .flatMap { record in
                record.learned.map {
                    Learned(id: $0.id, template: record.entry.id, time: $0.time)
                }
            }
            .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    /// Removes a learned face; enrolled faces stay.
    ///
    /// The time of learning is kept, so that the face isn't learned again on the same day.
    package func removeTemplateUpdate(_ id: String, of user: UInt32) throws(FaceFault) {
        for var record in try records(of: user) {
            guard let index = record.learned.firstIndex(where: { $0.id == id }) else { continue }
            record.learned.remove(at: index)
            return try save(record, user: user)
        }
        throw .noTemplate
    }
}

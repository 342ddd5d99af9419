import CameraDevice
import Glibc

/// Which faces a template may learn after its enrolment, and how many.
///
/// What is learned is measured by what was enrolled, never by what was learned before: so a
/// template stays where its enrolment put it, and takes in nothing that the enrolment would not
/// have taken.
enum Learning {
    /// What a user's templates may have learned together.
    static let maximum = 5
    /// How long it takes until the next face may be learned; seconds.
    static let interval: Int64 = 24 * 3600

    /// Whether another face may be learned now; a clock that was set back is waited for.
    static func isDue(after last: Int64, _ count: Int, at now: Int64) -> Bool {
        guard count < maximum else { return false }
        let (past, overflows) = now.subtractingReportingOverflow(last)
        return last == 0 || !overflows && past >= interval
    }

    /// Whether a face is far inside the threshold, and shows something new.
    static func fits(
        _ face: FaceNumbers,
        _ record: TemplateRecord,
        _ threshold: FaceThreshold
    ) -> Bool {
        let nearest = record.faces.map { $0.distance(to: face) }.min() ?? .infinity
        let isNew = record.learned.allSatisfy {
            $0.face.distance(to: face) >= Enrolment.nearest
        }
        // The first is what every face of an enrolment has to match.
        guard let first = record.faces.first, first.distance(to: face) <= threshold.distance else {
            return false
        }
        return nearest <= threshold.lesson && nearest >= Enrolment.nearest && isNew
    }
}

extension FaceThreshold {
    /// The largest distance of a face that may be learned: two thirds of a match's.
    var lesson: Float { distance * 2 / 3 }
}

extension TemplateStore {
    /// What can be told of something that was learned.
    package struct Learned: Hashable, Sendable {
        /// 32 hexadecimal digits, at random.
        package let id: String
        /// The template that it is a part of.
        package let template: String
        /// Seconds since 1970.
        package let time: Int64
    }

    /// Adds a face, which the passcode has confirmed, to the template that it matched; the template
    /// keeps its id.
    ///
    /// - Returns: Whether it was added: at most once a day, at most five times, and only what
    ///   ``Learning`` lets in.
    /// - Throws: ``FaceFault/noTemplate`` when the template is gone.
    package func learn(
        _ face: FaceNumbers,
        into id: String,
        of user: UInt32,
        camera: String,
        threshold: FaceThreshold,
        at moment: Int64? = nil
    ) throws(FaceFault) -> Bool {
        let now = moment ?? Int64(time(nil))
        let all = try records(of: user)
        guard var record = all.first(where: { $0.entry.id == id }) else { throw .noTemplate }
        let last = all.map(\.lastLearned).max() ?? 0
        let count = all.reduce(0) { $0 + $1.learned.count }
        guard now > 0, Learning.isDue(after: last, count, at: now),
            CameraIdentity.isSame(record.entry.camera, as: camera),
            Learning.fits(face, record, threshold)
        else { return false }
        record.learned.append(.init(id: Self.newIdentifier(), time: now, face: face))
        record.lastLearned = now
        try save(record, user: user)
        return true
    }

    /// What was learned of a user, the oldest first.
    package func learned(of user: UInt32) throws(FaceFault) -> [Learned] {
        try records(of: user)
            .flatMap { record in
                record.learned.map {
                    Learned(id: $0.id, template: record.entry.id, time: $0.time)
                }
            }
            .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    /// Removes something that was learned; what was enrolled stays.
    ///
    /// When it was learned is kept, so that it isn't learned anew on the same day.
    package func removeLearned(_ id: String, of user: UInt32) throws(FaceFault) {
        for var record in try records(of: user) {
            guard let index = record.learned.firstIndex(where: { $0.id == id }) else { continue }
            record.learned.remove(at: index)
            return try save(record, user: user)
        }
        throw .noTemplate
    }
}

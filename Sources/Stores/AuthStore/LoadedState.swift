package import AuthEngine
import Contract

/// What was on the disk at the start.
package struct LoadedState: Hashable, Sendable {
    /// The record of every known user; delays are on this boot's clock.
    package var records: [UInt32: UserRecord] = [:]
    package var enrolments: [UInt32: Enrolment] = [:]
    /// Where a damaged database was put at this start; nil: there was none.
    package var setAside: String?
    /// Whether a database was ever lost here; it stays so at every later start.
    package var damaged = false

    package init() {}

    /// The record of a user of whom nothing is known.
    ///
    /// After damage it requires a passcode first (L17): lockouts may have been lost. Saving that
    /// user's record ends it.
    package var unknown: UserRecord {
        var record = UserRecord()
        record.passcodeCause = damaged ? PasscodeCause(.damaged) : nil
        return record
    }

    /// The record to begin with, for any user.
    package func record(of uid: UInt32) -> UserRecord {
        records[uid] ?? unknown
    }
}

package import AuthEngine
import Contract

package struct LoadedState: Hashable, Sendable {
    /// Records by uid.
    ///
    /// Delays are on this boot's clock.
    package var records: [UInt32: UserRecord] = [:]
    package var enrolments: [UInt32: Enrolment] = [:]
    /// The path of a damaged database that this start set aside; nil if there was none.
    package var setAside: String?
    /// Whether a database was ever lost in this directory.
    ///
    /// Later starts keep the value.
    package var damaged = false

    package init() {}

    /// The record of a user without a stored record.
    ///
    /// After damage it requires a password before biometry (L17), because a lockout may have been
    /// lost. Saving the user's record ends that requirement.
    package var unknown: UserRecord {
        var record = UserRecord()
        record.passcodeCause = damaged ? PasscodeCause(.damaged) : nil
        return record
    }

    package func record(of uid: UInt32) -> UserRecord {
        records[uid] ?? unknown
    }
}

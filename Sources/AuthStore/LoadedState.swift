public import AuthEngine

/// What was on the disk at the start.
public struct LoadedState: Hashable, Sendable {
    /// The record of every known user; delays are on this boot's clock.
    public var records: [UInt32: UserRecord] = [:]
    /// The enrolment of every known user.
    public var enrolments: [UInt32: Enrolment] = [:]
    /// Where a damaged database was put at this start; nil: there was none.
    public var setAside: String?
    /// Whether a database was ever lost here; it stays so at every later start.
    public var damaged = false

    /// Nothing known.
    public init() {}

    /// The record to begin with, for any user.
    ///
    /// After damage a user of whom nothing is known needs a passcode first (L17): lockouts may
    /// have been lost. Saving that user's record with another cause ends it.
    public func record(of uid: UInt32) -> UserRecord {
        if let known = records[uid] { return known }
        var record = UserRecord()
        record.passcodeCause = damaged ? "damaged" : nil
        return record
    }
}

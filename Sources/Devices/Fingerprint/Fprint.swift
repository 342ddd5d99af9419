package import DBus

/// The names of fprintd's objects.
enum Fprint {
    static let busName = "net.reactivated.Fprint"
    static let root = ObjectPath(trusted: "/net/reactivated/Fprint")
    static let managerPath = ObjectPath(trusted: "/net/reactivated/Fprint/Manager")
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"

    /// fprintd matches on the thread that answers calls: a big image keeps it for seconds.
    static let patience = Duration.seconds(15)
    /// Claim may wait for a driver to open and for polkit.
    static let claimPatience = Duration.seconds(30)
}

/// A reader as fprintd shows it.
package struct FprintReader: Hashable, Sendable {
    /// What identifies a reader across restarts of fprintd: its name, and its index among readers
    /// of that name.
    package struct Key: Hashable, Sendable {
        /// The name that its driver gives it.
        package let name: String
        /// 0 for the first one of this name.
        package let ordinal: Int
    }

    package let key: Key
    /// Its object, as long as this fprintd runs.
    package let path: ObjectPath
    /// The stages of an enrolment; -1: unknown.
    package let enrollStages: Int32
}

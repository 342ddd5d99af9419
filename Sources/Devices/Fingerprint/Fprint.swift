package import DBus

enum Fprint {
    static let busName = "net.reactivated.Fprint"
    static let root = ObjectPath(trusted: "/net/reactivated/Fprint")
    static let managerPath = ObjectPath(trusted: "/net/reactivated/Fprint/Manager")
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"

    /// The time limit of a call.
    ///
    /// The thread of fprintd that answers calls also matches images. A large image takes seconds.
    static let patience = Duration.seconds(15)
    /// The time limit of Claim, which may wait for a driver to open and for polkit.
    static let claimPatience = Duration.seconds(30)
}

package struct FprintReader: Hashable, Sendable {
    /// Identifies a reader across restarts of fprintd.
    package struct Key: Hashable, Sendable {
        /// The name given by its driver.
        package let name: String
        /// The index among readers with this name, from 0.
        package let ordinal: Int
    }

    package let key: Key
    /// Its object path, valid while this fprintd process runs.
    package let path: ObjectPath
    /// The stages of an enrolment, or -1 if unknown.
    package let enrollStages: Int32
}

import AuthEngine
import Contract
import DBus
import Glibc

/// Who may be a sensor, and how far its own word goes.
enum SensorTrust: Equatable {
    /// A process of one of these users, up to this strength.
    case granted(uids: Set<UInt32>, strength: Strength)
    /// Nobody, for this reason.
    case refused(String)
}

/// What the administrator's files say of sensors, where such files are needed: on the system bus.
///
/// They are read each time a sensor comes: there are few, and none can be out of date.
package struct SensorDescriptions: Sendable {
    /// The folders that are looked into when none are named.
    package static let standard = ["/etc/localauth/sensors", "/usr/share/localauth/sensors"]

    /// Where the files are, the first before the next.
    let folders: [String]

    /// Files in these folders; a file of the first hides one of the same name in the next.
    package init(folders: [String] = standard) {
        self.folders = folders
    }

    /// The folders, those that they are made in, and that of the accounts: the user whom a file
    /// names may be made after it.
    var watched: [String] {
        folders + folders.map { $0.split(separator: "/").dropLast().map { "/" + $0 }.joined() }
            + ["/etc"]
    }

    /// What a file may say.
    static let keys = ["User", "Strength"].map { SettingsFile.Name(section: "Sensor", word: $0) }

    /// What is said of a sensor; where nothing is said of a second one of a program, such as
    /// `Fingerprint2`, what is said of the first.
    @BusActor
    func trust(in name: String) -> SensorTrust {
        let first = name.last.map("23456789".contains) == true ? [String(name.dropLast())] : []
        do throws(ConfigurationError) {
            for name in [name] + first {
                for folder in folders {
                    let path = "\(folder)/\(name).conf"
                    guard try Self.isThere(path) else { continue }
                    return try Self.read(SettingsFile.contents(of: path), file: path)
                }
            }
        } catch {
            return .refused("\(error)")
        }
        return .refused("There is no file \(folders.last ?? "")/\(name).conf.")
    }

    /// Whether there is a file, or something in the place of one: that hides the others, too.
    private static func isThere(_ path: String) throws(ConfigurationError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        let reason = errno
        if reason == ENOENT || reason == ENOTDIR { return false }
        throw ConfigurationError(
            file: path,
            line: nil,
            message: "The file can't be opened: \(String(cString: strerror(reason)))."
        )
    }

    /// What the bytes of a file say.
    @BusActor
    static func read(
        _ bytes: [UInt8],
        file path: String
    ) throws(ConfigurationError) -> SensorTrust {
        let words = Strength.allCases.reversed().map(\.rawValue).joined(separator: ", ")
        var uid: UInt32 = 0
        var strength = Strength.convenience
        try SettingsFile.parse(bytes, file: path, keys: keys) { name, value in
            if name.word == "User" {
                guard let user = UserName.uid(of: value) else { return "a user of this system" }
                uid = user
            } else {
                guard let known = Strength(rawValue: value) else { return words }
                strength = known
            }
            return nil
        }
        return .granted(uids: [uid], strength: strength)
    }
}

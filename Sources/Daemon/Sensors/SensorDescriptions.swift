import AuthEngine
import Contract
import DBus
import Glibc

/// Which users may run a sensor, and which strength they may claim.
enum SensorTrust: Equatable {
    /// Processes of these users may be the sensor, up to this strength.
    case granted(uids: Set<UInt32>, strength: Strength)
    case refused(String)
}

/// The administrator's descriptions of sensors, which the system bus requires.
///
/// They are read whenever a sensor arrives. There are few of them, so no cache is needed that could
/// be outdated.
package struct SensorDescriptions: Sendable {
    package static let standard = ["/etc/localauth/sensors", "/usr/share/localauth/sensors"]

    /// The folders of the files, in order of precedence.
    let folders: [String]

    /// Uses files in these folders; a file hides files with its name in later folders.
    package init(folders: [String] = standard) {
        self.folders = folders
    }

    /// The folders to watch: the descriptions' folders, their parents, and the folder of the
    /// account files.
    ///
    /// A file may name a user that is created later.
    var watched: [String] {
        folders + folders.map { $0.split(separator: "/").dropLast().map { "/" + $0 }.joined() }
            + ["/etc"]
    }

    static let keys = ["User", "Strength"].map { SettingsFile.Name(section: "Sensor", word: $0) }

    /// Returns the trust in a sensor.
    ///
    /// A second sensor of a program, such as `Fingerprint2`, uses the description of the first
    /// unless it has its own.
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

    /// Whether a file, or any other entry with its name, exists and so hides later files.
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

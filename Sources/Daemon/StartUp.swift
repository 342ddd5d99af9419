import Glibc
package import KeychainStore
import Linux
package import ServiceProgram

package struct ConfigurationFile: Sendable {
    /// The file to read if no path is given, if it exists.
    package static let standard = "/etc/localauth/localauth.conf"

    /// The given path, or nil for the standard file.
    package let path: String?

    package init(path: String?) {
        self.path = path
    }

    /// Reads the file.
    ///
    /// A given file must exist; without the standard file, the defaults apply.
    ///
    /// - Throws: `ConfigurationError` with file, line and key.
    package func read() throws(ConfigurationError) -> Configuration {
        if let path { return try Configuration.read(path: path) }
        guard access(Self.standard, F_OK) == 0 else { return Configuration() }
        return try Configuration.read(path: Self.standard)
    }
}

package enum StateDirectory {
    /// Returns the given folder, else `$STATE_DIRECTORY`, else a default.
    ///
    /// The default is `/var/lib/localauth` for root, and `$XDG_STATE_HOME/localauth` or
    /// `~/.local/state/localauth` for other users.
    ///
    /// - Throws: `StartError` if the user has no home directory.
    package static func path(_ named: String?) throws(StartError) -> String {
        if let named { return named }
        guard let folder = StatePath.folder(system: "localauth", user: "localauth") else {
            throw StartError("there is no home directory; name one with --state-directory")
        }
        return folder
    }
}

extension Keychain {
    /// Opens the keychain in the daemon's state directory, encrypted under systemd's credential if
    /// systemd provides one.
    ///
    /// - Throws: `notAvailable` if no thread can be created.
    package init(in directory: String, itemLimit: Int) throws(KeychainError) {
        let credentials = StatePath.path(in: "CREDENTIALS_DIRECTORY")
        try self.init { () throws(KeychainError) in
            try KeychainStore.open(
                directory: directory,
                credentials: credentials,
                itemLimit: itemLimit
            )
        } isThere: {
            KeychainStore.isThere(in: directory)
        } hasWork: {
            KeychainStore.hasWork(in: directory)
        }
    }
}

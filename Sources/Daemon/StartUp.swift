import Glibc
package import KeychainStore
import Linux
package import ServiceProgram

/// Where the settings are.
package struct ConfigurationFile: Sendable {
    /// The file that is read when none is named, if it is there.
    package static let standard = "/etc/localauth/localauth.conf"

    /// The file that was named, or nil.
    package let path: String?

    /// The file that was named, or nil for the standard one.
    package init(path: String?) {
        self.path = path
    }

    /// Reads the file.
    ///
    /// A named one must be there; the standard one may be absent.
    ///
    /// - Throws: `ConfigurationError` with file, line and key.
    package func read() throws(ConfigurationError) -> Configuration {
        if let path { return try Configuration.read(path: path) }
        guard access(Self.standard, F_OK) == 0 else { return Configuration() }
        return try Configuration.read(path: Self.standard)
    }
}

/// Where the daemon keeps its state.
package enum StateDirectory {
    /// The named folder, else `$STATE_DIRECTORY`, else `/var/lib/localauth` for root and
    /// `$XDG_STATE_HOME/localauth` or `~/.local/state/localauth` for others.
    ///
    /// - Throws: `StartError` when a user has no home.
    package static func path(_ named: String?) throws(StartError) -> String {
        if let named { return named }
        guard let folder = StatePath.folder(system: "localauth", user: "localauth") else {
            throw StartError("there is no home directory; name one with --state-directory")
        }
        return folder
    }
}

extension Keychain {
    /// The keychain in the daemon's state directory, under systemd's credential if there is one.
    ///
    /// - Throws: `notAvailable` when no thread can be had.
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
        }
    }
}

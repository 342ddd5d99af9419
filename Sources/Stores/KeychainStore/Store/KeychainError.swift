package import AuthEngine
import Linux
import SQLite

/// Why the keychain refuses.
package struct KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of refusal; the names are those of the wire.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        /// A kind of refusal by its word.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// An item with this primary key exists.
        package static let duplicate = Code(rawValue: "duplicate")
        /// There is no such item, or there is none any more.
        package static let notFound = Code(rawValue: "notFound")
        /// Not authorized, or a wrong application password.
        package static let authFailed = Code(rawValue: "authFailed")
        /// What was asked for makes no sense.
        package static let parameter = Code(rawValue: "parameter")
        /// The file is not what was written, or data doesn't decrypt.
        package static let decode = Code(rawValue: "decode")
        package static let notAvailable = Code(rawValue: "notAvailable")
        package static let limitsExceeded = Code(rawValue: "limitsExceeded")
    }

    package let code: Code
    /// One sentence for people, with what they can do.
    package let message: String
    /// Whether the right master key is what is missing.
    package let needsMasterKey: Bool

    package var description: String { message }

    init(_ code: Code, _ message: String, needsMasterKey: Bool = false) {
        self.code = code
        self.message = message
        self.needsMasterKey = needsMasterKey
    }

    /// A failure of the file or the disk.
    init(_ error: SystemError) {
        self = KeychainError(
            error.code == .damaged ? .decode : .notAvailable,
            "The keychain's file: \(error)"
        )
    }

    /// An access control whose parts can't be combined.
    package init(_ refusal: AccessControl.Refusal) {
        self.init(.parameter, refusal.description)
    }

    static func parameter(_ message: String) -> KeychainError { .init(.parameter, message) }

    static let notFound = KeychainError(.notFound, "The item does not exist.")
    static let changed = KeychainError(
        .decode,
        "The item was changed behind the keychain's back: delete it, and store it again."
    )
}

/// Runs `body`, and converts the store's errors into the keychain's.
func translating<Result>(
    _ body: () throws(SystemError) -> Result
) throws(KeychainError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw KeychainError(error)
    }
}

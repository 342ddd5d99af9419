package import AuthEngine
import Linux
import SQLite

package struct KeychainError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal.
    ///
    /// The names are those of the wire.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        package static let duplicate = Code(rawValue: "duplicate")
        package static let notFound = Code(rawValue: "notFound")
        /// Not authorized, or a wrong app password.
        package static let authFailed = Code(rawValue: "authFailed")
        package static let parameter = Code(rawValue: "parameter")
        /// The file differs from the data that was written, or data does not decrypt.
        package static let decode = Code(rawValue: "decode")
        package static let notAvailable = Code(rawValue: "notAvailable")
        package static let limitsExceeded = Code(rawValue: "limitsExceeded")
    }

    package let code: Code
    /// One sentence for people that says what to do.
    package let message: String
    /// Whether the failure is a missing or wrong master key.
    package let needsMasterKey: Bool
    /// Whether the file has an earlier format, and its upgrade failed.
    let isOfUpgrade: Bool

    package var description: String { message }

    init(
        _ code: Code,
        _ message: String,
        needsMasterKey: Bool = false,
        isOfUpgrade: Bool = false
    ) {
        self.code = code
        self.message = message
        self.needsMasterKey = needsMasterKey
        self.isOfUpgrade = isOfUpgrade
    }

    init(ofUpgrade error: SystemError, needing bytes: Int64) {
        self.init(
            .notAvailable,
            "The keychain's file has an earlier format, and its upgrade failed. All items are "
                + "safe. The upgrade needs \(bytes / 1024 + 1) KiB of free space, and the service "
                + "tries again after a minute. \(error)",
            isOfUpgrade: true
        )
    }

    init(_ error: SystemError) {
        self = KeychainError(
            error.code == .damaged ? .decode : .notAvailable,
            "The keychain's file: \(error)"
        )
    }

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

/// Runs `body` and converts the store's errors into keychain errors.
func translating<Result>(
    _ body: () throws(SystemError) -> Result
) throws(KeychainError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw KeychainError(error)
    }
}

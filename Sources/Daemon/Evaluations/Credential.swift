import DBus

/// The kind of secret that an app sets on its context, with Apple's raw values.
enum CredentialKind: Int32 {
    case applicationPassword = 0
    case smartCardPIN = -3

    /// - Throws: InvalidArgs for an unknown type.
    init(_ raw: Int32) throws(DBusError) {
        guard let kind = CredentialKind(rawValue: raw) else {
            throw .invalid("credential type \(raw) is neither 0 nor -3")
        }
        self = kind
    }
}

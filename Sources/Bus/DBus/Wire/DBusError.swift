/// An error on the bus: a name for programs, a message for people.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A D-Bus error name, such as `org.freedesktop.DBus.Error.InvalidArgs`.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        public let rawValue: String

        /// Takes any name.
        ///
        /// An invalid name is sent as `Failed`.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }
    }

    public let name: Name
    /// A sentence for people.
    public let message: String

    public init(_ name: Name, _ message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { "\(name.rawValue): \(message)" }
}

extension DBusError.Name {
    /// A value is malformed or out of its range.
    public static let invalidArgs: Self = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The caller may not do this, or could not be identified.
    public static let accessDenied: Self = "org.freedesktop.DBus.Error.AccessDenied"
    /// The object does not exist, or the caller may not know of it.
    public static let unknownObject: Self = "org.freedesktop.DBus.Error.UnknownObject"
    public static let unknownInterface: Self = "org.freedesktop.DBus.Error.UnknownInterface"
    public static let unknownMethod: Self = "org.freedesktop.DBus.Error.UnknownMethod"
    public static let unknownProperty: Self = "org.freedesktop.DBus.Error.UnknownProperty"
    public static let propertyReadOnly: Self = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// More than is allowed at a time.
    public static let limitsExceeded: Self = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// No reply came, or the call was canceled before it.
    public static let noReply: Self = "org.freedesktop.DBus.Error.NoReply"
    public static let timeout: Self = "org.freedesktop.DBus.Error.Timeout"
    /// There is no bus at an address.
    public static let noServer: Self = "org.freedesktop.DBus.Error.NoServer"
    /// The connection is gone, or was refused.
    public static let disconnected: Self = "org.freedesktop.DBus.Error.Disconnected"
    public static let failed: Self = "org.freedesktop.DBus.Error.Failed"
    public static let notSupported: Self = "org.freedesktop.DBus.Error.NotSupported"
    /// The bus name has no owner.
    public static let nameHasNoOwner: Self = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The bus name has no owner, and the bus cannot start one.
    public static let serviceUnknown: Self = "org.freedesktop.DBus.Error.ServiceUnknown"
}

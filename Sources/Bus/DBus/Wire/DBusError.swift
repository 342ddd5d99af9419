/// An error on the bus: a name for programs, a message for people.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A D-Bus error name, such as `org.freedesktop.DBus.Error.InvalidArgs`.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// The whole name.
        public let rawValue: String

        /// Any name; one that is not valid on the bus is sent as `Failed`.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A name known when the program is written.
        public init(stringLiteral value: String) {
            rawValue = value
        }
    }

    /// What went wrong, for programs.
    public let name: Name
    /// What went wrong, for people: one sentence.
    public let message: String

    /// An error to throw or to answer with.
    public init(_ name: Name, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The name and the sentence.
    public var description: String { "\(name.rawValue): \(message)" }
}

extension DBusError.Name {
    /// A value that is malformed or out of its range.
    public static let invalidArgs: Self = "org.freedesktop.DBus.Error.InvalidArgs"
    /// The caller may not do this, or could not be identified.
    public static let accessDenied: Self = "org.freedesktop.DBus.Error.AccessDenied"
    /// No such object, as far as this caller may know.
    public static let unknownObject: Self = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface: Self = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such method.
    public static let unknownMethod: Self = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The interface has no such property.
    public static let unknownProperty: Self = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be set.
    public static let propertyReadOnly: Self = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// More than is allowed at a time.
    public static let limitsExceeded: Self = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// No reply came, or the call was canceled before it.
    public static let noReply: Self = "org.freedesktop.DBus.Error.NoReply"
    /// Something took too long.
    public static let timeout: Self = "org.freedesktop.DBus.Error.Timeout"
    /// There is no bus at an address.
    public static let noServer: Self = "org.freedesktop.DBus.Error.NoServer"
    /// The connection is gone, or was refused.
    public static let disconnected: Self = "org.freedesktop.DBus.Error.Disconnected"
    /// Anything else.
    public static let failed: Self = "org.freedesktop.DBus.Error.Failed"
    /// Not possible on this connection.
    public static let notSupported: Self = "org.freedesktop.DBus.Error.NotSupported"
    /// Nobody owns the bus name.
    public static let nameHasNoOwner: Self = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// Nobody owns the bus name, and nothing can be started to own it.
    public static let serviceUnknown: Self = "org.freedesktop.DBus.Error.ServiceUnknown"
}

import CSystemd

/// A valid D-Bus object path.
public struct ObjectPath: Hashable, Sendable, CustomStringConvertible {
    /// The path, beginning with a slash.
    public let rawValue: String

    /// Nil when the text is not an object path, or longer than a string may be.
    public init?(_ text: String) {
        guard text.utf8.count <= MessageLimits.string, !text.utf8.contains(0),
            sd_bus_object_path_is_valid(text) > 0
        else { return nil }
        rawValue = text
    }

    /// A path known when the program is written.
    public init(trusted: StaticString) {
        rawValue = trusted.description
    }

    /// A path whose parts were checked before.
    ///
    /// Sending an invalid one fails.
    public init(unchecked: String) {
        rawValue = unchecked
    }

    /// The path itself.
    public var description: String { rawValue }
}

import CSystemd

/// A valid D-Bus object path.
public struct ObjectPath: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// Returns nil when the text is not an object path, or is longer than a string may be.
    public init?(_ text: String) {
        guard text.utf8.count <= MessageLimits.string, !text.utf8.contains(0),
            sd_bus_object_path_is_valid(text) > 0
        else { return nil }
        rawValue = text
    }

    /// Takes a path from the source code, without a check.
    public init(trusted: StaticString) {
        rawValue = trusted.description
    }

    /// Takes a path whose parts were checked before.
    ///
    /// Sending an invalid path fails.
    public init(unchecked: String) {
        rawValue = unchecked
    }

    public var description: String { rawValue }
}

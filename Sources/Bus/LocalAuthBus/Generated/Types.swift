// Made by scripts/dbus-codegen from dbus/*.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The structure `(ssx)` of the wire.
public struct LearnedEntry: WireType, Hashable, Sendable {
    /// The D-Bus type.
    public static let signature = "(ssx)"
    /// Field 1, of type `s`.
    public let id: String
    /// Field 2, of type `s`.
    public let template: String
    /// Field 3, of type `x`.
    public let learned: Int64
    /// Makes a structure of its fields.
    public init(id: String, template: String, learned: Int64) {
        (self.id, self.template, self.learned) = (id, template, learned)
    }
    /// Reads a structure from a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.structure("ssx") { reader throws(DBusError) in
            Self(id: try reader.read(String.self), template: try reader.read(String.self),
                learned: try reader.read(Int64.self))
        }
    }
    /// Writes the structure into a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.structure("ssx") { writer throws(DBusError) in try writer.write(id)
        try writer.write(template); try writer.write(learned) }
    }
}

/// The structure `(ssx)` of the wire.
public struct Template: WireType, Hashable, Sendable {
    /// The D-Bus type.
    public static let signature = "(ssx)"
    /// Field 1, of type `s`.
    public let id: String
    /// Field 2, of type `s`.
    public let label: String
    /// Field 3, of type `x`.
    public let created: Int64
    /// Makes a structure of its fields.
    public init(id: String, label: String, created: Int64) {
        (self.id, self.label, self.created) = (id, label, created)
    }
    /// Reads a structure from a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.structure("ssx") { reader throws(DBusError) in
            Self(id: try reader.read(String.self), label: try reader.read(String.self),
                created: try reader.read(Int64.self))
        }
    }
    /// Writes the structure into a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.structure("ssx") { writer throws(DBusError) in try writer.write(id)
        try writer.write(label); try writer.write(created) }
    }
}

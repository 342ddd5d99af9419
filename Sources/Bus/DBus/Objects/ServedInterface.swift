/// The members of an interface, for dispatch and introspection.
public struct InterfaceDescription: Sendable {
    public struct Method: Sendable {
        public let name: String
        public let input: String
        public let output: String
        /// Whether the method's messages carry secrets, and are erased from memory after use.
        public let isSensitive: Bool

        public init(name: String, input: String, output: String, isSensitive: Bool = false) {
            self.name = name
            self.input = input
            self.output = output
            self.isSensitive = isSensitive
        }
    }

    public struct Property: Sendable {
        /// How PropertiesChanged announces a change of the property.
        public enum Change: Sendable, Hashable {
            /// By the new value.
            case value
            /// By name only.
            case invalidates
            /// Never.
            case never
            /// Never, because the property does not change.
            case constant
        }

        public let name: String
        /// A single complete type.
        public let signature: String
        /// Whether Set may be called.
        public let isWritable: Bool
        public let change: Change

        public init(name: String, signature: String, isWritable: Bool, change: Change) {
            self.name = name
            self.signature = signature
            self.isWritable = isWritable
            self.change = change
        }
    }

    public let name: String
    /// Methods by member name.
    public let methods: [String: Method]
    /// Properties in the order in which they are shown.
    public let properties: [Property]
    /// The `<interface>` element, docs included.
    public let introspection: String

    public init(
        name: String,
        methods: [String: Method],
        properties: [Property],
        introspection: String
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.introspection = introspection
    }
}

/// An interface of an exported object.
///
/// Generated adapters conform to it.
@BusActor
public protocol ServedInterface {
    nonisolated static var description: InterfaceDescription { get }
    /// Decodes a call of a described method, and arranges its answer.
    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError)
    /// Writes the bare value of a property.
    ///
    /// `peer` is nil for a value that all peers share.
    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError)
    /// Reads the bare new value of a property, and sets it.
    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError)
}

/// What an interface consists of, as dispatch and introspection need it.
public struct InterfaceDescription: Sendable {
    /// One method.
    public struct Method: Sendable {
        /// The member's name.
        public let name: String
        /// The signature of the arguments.
        public let input: String
        /// The signature of the reply.
        public let output: String
        /// Whether its messages carry secrets, and are erased from memory after use.
        public let isSensitive: Bool

        /// A method by its signatures.
        public init(name: String, input: String, output: String, isSensitive: Bool = false) {
            self.name = name
            self.input = input
            self.output = output
            self.isSensitive = isSensitive
        }
    }

    /// One property.
    public struct Property: Sendable {
        /// What PropertiesChanged says about it.
        public enum Change: Sendable, Hashable {
            /// The new value.
            case value
            /// That it has changed.
            case invalidates
            /// Nothing.
            case never
            /// Nothing, because it does not change.
            case constant
        }

        /// The property's name.
        public let name: String
        /// One complete type.
        public let signature: String
        /// Whether Set may be called.
        public let isWritable: Bool
        /// What PropertiesChanged says about it.
        public let change: Change

        /// A property by its type.
        public init(name: String, signature: String, isWritable: Bool, change: Change) {
            self.name = name
            self.signature = signature
            self.isWritable = isWritable
            self.change = change
        }
    }

    /// The interface's name.
    public let name: String
    /// By member name.
    public let methods: [String: Method]
    /// In the order in which they are shown.
    public let properties: [Property]
    /// The `<interface>` element, docs included.
    public let introspection: String

    /// A description with introspection data of its own.
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
    /// Fixed for the type.
    nonisolated static var description: InterfaceDescription { get }
    /// Decodes a call of one of the described methods, and arranges its answer.
    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError)
    /// Writes the bare value of a property. `peer` is nil when the value isn't for one particular
    /// peer.
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

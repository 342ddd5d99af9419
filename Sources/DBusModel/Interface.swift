/// One D-Bus interface, as its introspection file describes it.
public struct Interface: Hashable, Sendable {
    /// `org.localauth.Context1`.
    public let name: String

    /// The file that it was read from, for errors.
    public let file: String

    /// Where the object with it is; nil when that is told at run time.
    public let path: String?

    /// The bus name of the program that has the object; nil when that is told at run time.
    public let busName: String?

    /// The line of its element, for errors.
    public let line: Int

    /// What it is for: never empty.
    public let doc: String

    /// All its annotations in the order of the file.
    public let annotations: [Annotation]

    /// The error names of `org.localauth.Errors`.
    public let errors: [String]

    /// The methods in the order of the file.
    public let methods: [Method]

    /// The signals in the order of the file.
    public let signals: [Signal]

    /// The properties in the order of the file.
    public let properties: [Property]
}

/// A name and a value at an element.
public struct Annotation: Hashable, Sendable {
    /// `org.gtk.GDBus.DocString`.
    public let name: String

    /// The text; in documentation, paragraphs are separated by `\n\n` and not wrapped.
    public let value: String
}

/// A method of an interface.
public struct Method: Hashable, Sendable {
    /// `CanEvaluate`.
    public let name: String

    /// The line of its element, for errors.
    public let line: Int

    /// What it does: never empty.
    public let doc: String

    /// All its annotations in the order of the file.
    public let annotations: [Annotation]

    /// What the caller gives.
    public let inputs: [Argument]

    /// What the caller gets.
    public let outputs: [Argument]

    /// How its progress is reported, if it has any.
    public let stream: Stream?

    /// How long a caller waits, if it isn't as long as for any other.
    public let timeout: Timeout?

    /// Its messages carry secrets, which are erased from memory after use.
    public let isSensitive: Bool
}

/// How long the caller of a method waits.
public enum Timeout: String, Hashable, Sendable {
    /// As long as it takes: a person may be asked, and the service has a deadline of its own.
    case none
}

/// How the `Event` signals of a call are distinguished from those of other calls.
public enum Stream: String, Hashable, Sendable {
    /// All events of the object belong to the call.
    case path
    /// The event's detail `call` is the serial of the call.
    case call
    /// The event's first argument is the call's first argument.
    case operation
}

/// A signal of an interface.
public struct Signal: Hashable, Sendable {
    /// `Event`.
    public let name: String

    /// The line of its element, for errors.
    public let line: Int

    /// When it is sent: never empty.
    public let doc: String

    /// All its annotations in the order of the file.
    public let annotations: [Annotation]

    /// What it carries.
    public let arguments: [Argument]

    /// It goes to one receiver by name, not to all subscribers.
    public let isUnicast: Bool
}

/// A property of an interface.
public struct Property: Hashable, Sendable {
    /// What PropertiesChanged says of a change: the values of the standard annotation.
    public enum Change: String, Hashable, Sendable {
        /// The new value.
        case value = "true"
        /// That it changed, not to what.
        case invalidates
        /// Nothing.
        case never = "false"
        /// There is no change.
        case constant = "const"
    }

    /// `LocalizedReason`.
    public let name: String

    /// The line of its element, for errors.
    public let line: Int

    /// What it holds: never empty.
    public let doc: String

    /// All its annotations in the order of the file.
    public let annotations: [Annotation]

    /// Its type.
    public let type: SignatureType

    /// Clients may set it.
    public let isWritable: Bool

    /// How a change is announced.
    public let change: Change
}

/// An argument of a method or a signal.
public struct Argument: Hashable, Sendable {
    /// `accessControl`.
    public let name: String

    /// The line of its element, for errors.
    public let line: Int

    /// What it means, if it needs saying.
    public let doc: String?

    /// All its annotations in the order of the file.
    public let annotations: [Annotation]

    /// Its type.
    public let type: SignatureType

    /// The names for the structure in it.
    public let structure: StructureNames?
}

/// The Swift names that `org.localauth.Type` gives a structure: `Template(id,label,created)`.
public struct StructureNames: Hashable, Sendable {
    /// `Template`.
    public let name: String

    /// The names of the fields, in order.
    public let fields: [String]
}

extension Sequence<Argument> {
    /// The types one after the other, as in a message's header.
    public var signature: String { map(\.type.text).joined() }
}

// Descriptions as the generator writes them: each member with its arguments and its doc.
extension InterfaceDescription {
    /// A member and its element in introspection data.
    public struct Member<Value: Sendable>: Sendable {
        let value: Value
        let element: String
    }

    public init(
        name: String,
        doc: String,
        methods: [Member<Method>],
        signals: [Member<Void>],
        properties: [Member<Property>]
    ) {
        let elements = methods.map(\.element) + signals.map(\.element) + properties.map(\.element)
        self.init(
            name: name,
            methods: Dictionary(methods.map { ($0.value.name, $0.value) }) { first, _ in first },
            properties: properties.map(\.value),
            introspection: element("interface", "name=\"\(name)\"", doc, elements.joined(), "")
        )
    }
}

extension InterfaceDescription.Member<InterfaceDescription.Method> {
    /// Describes a method.
    ///
    /// Arguments are listed as `u policy, s reason`.
    public init(
        _ name: String,
        _ inputs: String,
        _ outputs: String,
        isSensitive: Bool = false,
        _ doc: String
    ) {
        let (inputs, outputs) = (arguments(inputs), arguments(outputs))
        value = .init(
            name: name,
            input: inputs.map(\.type).joined(),
            output: outputs.map(\.type).joined(),
            isSensitive: isSensitive
        )
        let content =
            elements(inputs, " direction=\"in\"") + elements(outputs, " direction=\"out\"")
        element = DBus.element("method", "name=\"\(name)\"", doc, content)
    }
}

extension InterfaceDescription.Member<Void> {
    /// Describes a signal.
    ///
    /// Arguments are listed as in methods.
    public init(_ name: String, _ arguments: String, _ doc: String) {
        value = ()
        let content = elements(DBus.arguments(arguments), "")
        element = DBus.element("signal", "name=\"\(name)\"", doc, content)
    }
}

extension InterfaceDescription.Member<InterfaceDescription.Property> {
    public init(
        _ name: String,
        _ type: String,
        isWritable: Bool = false,
        _ change: InterfaceDescription.Property.Change,
        _ doc: String
    ) {
        value = .init(name: name, signature: type, isWritable: isWritable, change: change)
        let access = isWritable ? "readwrite" : "read"
        element = DBus.element(
            "property",
            "name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"",
            doc,
            annotation("org.freedesktop.DBus.Property.EmitsChangedSignal", change.word)
        )
    }
}

extension InterfaceDescription.Property.Change {
    fileprivate var word: String {
        switch self {
        case .value: "true"
        case .invalidates: "invalidates"
        case .never: "false"
        case .constant: "const"
        }
    }
}

private func arguments(_ list: String) -> [(type: String, name: String)] {
    list.split(separator: ", ")
        .map { item in
            let parts = item.split(separator: " ")
            return (String(parts.first ?? ""), String(parts.last ?? ""))
        }
}

private func elements(_ arguments: [(type: String, name: String)], _ direction: String) -> String {
    arguments.map { "      <arg name=\"\($0.name)\" type=\"\($0.type)\"\(direction)/>\n" }.joined()
}

private func annotation(_ name: String, _ value: String) -> String {
    "      <annotation name=\"\(name)\" value=\"\(value)\"/>\n"
}

private func element(
    _ tag: String,
    _ attributes: String,
    _ doc: String,
    _ content: String,
    _ margin: String = "    "
) -> String {
    let text = doc.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        .replacing("\"", with: "&quot;")
    return "\(margin)<\(tag) \(attributes)>\n" + annotation("org.gtk.GDBus.DocString", text)
        + "\(content)\(margin)</\(tag)>\n"
}

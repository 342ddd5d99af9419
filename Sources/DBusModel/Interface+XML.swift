extension Interface {
    /// Reads an introspection file of one interface.
    ///
    /// - Throws: `SourceError` for a file that is not well formed, says something that is not
    ///   known, breaks a rule of D-Bus, or leaves a member without a doc.
    public init(xml bytes: [UInt8], file: String) throws(SourceError) {
        let root = try XMLReader.document(bytes, file: file)
        self = try IntrospectionReader(file: file).interface(root: root)
    }
}

/// The known annotations; any other is an error, so that a misspelt one is noticed.
private enum Known {
    static let doc = "org.gtk.GDBus.DocString"
    static let change = "org.freedesktop.DBus.Property.EmitsChangedSignal"
    static let stream = "org.localauth.Stream"
    static let timeout = "org.localauth.Timeout"
    static let sensitive = "org.localauth.Sensitive"
    static let ofMethods: Set<String> = [doc, stream, timeout, sensitive]
    static let delivery = "org.localauth.Delivery"
    static let errors = "org.localauth.Errors"
    static let busName = "org.localauth.BusName"
    static let type = "org.localauth.Type"
}

private struct IntrospectionReader {
    let file: String

    func interface(root: XMLElement) throws(SourceError) -> Interface {
        guard root.name == "node" else {
            throw error(root, "the root is not <node> but <\(root.name)>")
        }
        try check(root, attributes: ["name"], children: ["interface"])
        guard root.children.count == 1, let element = root.children.first else {
            throw error(root, "the file has \(root.children.count) interfaces, not one")
        }
        try check(
            element,
            attributes: ["name"],
            children: ["annotation", "method", "signal", "property"]
        )
        let name = try name(of: element, "an interface's name", where: Names.isInterface)
        let path = root["name"]
        if let path, !Names.isPath(path) { throw error(root, "'\(path)' is no object path") }
        let known: Set = [Known.doc, Known.errors, Known.busName]
        let notes = try annotations(of: element, known: known)
        let busName = notes.value(Known.busName)
        if let busName, !Names.isInterface(busName) {
            throw error(element, "'\(busName)' is no bus name")
        }
        let result = Interface(
            name: name,
            file: file,
            path: path,
            busName: busName,
            line: element.line,
            doc: try doc(notes, of: element, "the interface '\(name)'"),
            // The bus name is for the generator: whoever introspects an object has found it.
            annotations: notes.filter { $0.name != Known.busName },
            errors: try errors(notes, of: element),
            methods: try members("method", of: element, method),
            signals: try members("signal", of: element, signal),
            properties: try members("property", of: element, property)
        )
        for method in result.methods { try checkStream(of: method, in: result) }
        return result
    }

    private func members<Member>(
        _ kind: String,
        of parent: XMLElement,
        _ read: (XMLElement) throws(SourceError) -> Member
    ) throws(SourceError) -> [Member] {
        var names: Set<String> = []
        var result: [Member] = []
        for element in parent.children where element.name == kind {
            let name = try name(of: element, "a \(kind)'s name", where: Names.isUpperCamel)
            guard names.insert(name).inserted else {
                throw error(element, "the \(kind) '\(name)' is there twice")
            }
            result.append(try read(element))
        }
        return result
    }

    private func method(_ element: XMLElement) throws(SourceError) -> Method {
        let name = element["name"] ?? ""
        try check(element, attributes: ["name"], children: ["annotation", "arg"])
        let notes = try annotations(of: element, known: Known.ofMethods)
        let arguments = try arguments(of: element, directions: ["in", "out"], default: "in")
        return Method(
            name: name,
            line: element.line,
            doc: try doc(notes, of: element, "the method '\(name)'"),
            annotations: notes,
            inputs: arguments.filter { $0.direction == "in" }.map(\.argument),
            outputs: arguments.filter { $0.direction == "out" }.map(\.argument),
            stream: try choice(notes, Known.stream, of: element, Stream.init(rawValue:)),
            timeout: try choice(notes, Known.timeout, of: element, Timeout.init(rawValue:)),
            isSensitive: try choice(notes, Known.sensitive, of: element) { Bool($0) } ?? false
        )
    }

    private func signal(_ element: XMLElement) throws(SourceError) -> Signal {
        let name = element["name"] ?? ""
        try check(element, attributes: ["name"], children: ["annotation", "arg"])
        let notes = try annotations(of: element, known: [Known.doc, Known.delivery])
        let isUnicast = try choice(notes, Known.delivery, of: element) { (text) -> Bool? in
            switch text {
            case "unicast": true
            case "broadcast": false
            default: nil
            }
        }
        return Signal(
            name: name,
            line: element.line,
            doc: try doc(notes, of: element, "the signal '\(name)'"),
            annotations: notes,
            arguments: try arguments(of: element, directions: ["out"], default: "out")
                .map(\.argument),
            isUnicast: isUnicast ?? false
        )
    }

    private func property(_ element: XMLElement) throws(SourceError) -> Property {
        let name = element["name"] ?? ""
        try check(element, attributes: ["name", "type", "access"], children: ["annotation"])
        let notes = try annotations(of: element, known: [Known.doc, Known.change])
        guard let access = element["access"], access == "read" || access == "readwrite" else {
            throw error(element, "the property '\(name)' is neither 'read' nor 'readwrite'")
        }
        return Property(
            name: name,
            line: element.line,
            doc: try doc(notes, of: element, "the property '\(name)'"),
            annotations: notes,
            type: try type(of: element),
            isWritable: access == "readwrite",
            change: try choice(notes, Known.change, of: element, Property.Change.init(rawValue:))
                ?? .value
        )
    }

    private func arguments(
        of parent: XMLElement,
        directions: Set<String>,
        default direction: String
    ) throws(SourceError) -> [(direction: String, argument: Argument)] {
        var names: Set<String> = []
        var result: [(direction: String, argument: Argument)] = []
        for element in parent.children where element.name == "arg" {
            try check(element, attributes: ["name", "type", "direction"], children: ["annotation"])
            let name = try name(of: element, "an argument's name", where: Names.isLowerCamel)
            guard names.insert(name).inserted else {
                throw error(element, "the argument '\(name)' is there twice")
            }
            let direction = element["direction"] ?? direction
            guard directions.contains(direction) else {
                throw error(element, "the direction of '\(name)' is '\(direction)'")
            }
            let notes = try annotations(of: element, known: [Known.doc, Known.type])
            let type = try type(of: element)
            let argument = Argument(
                name: name,
                line: element.line,
                doc: notes.value(Known.doc),
                annotations: notes,
                type: type,
                structure: try structure(notes, of: element, type: type)
            )
            result.append((direction, argument))
        }
        return result
    }
}

// MARK: - Parts of an element

extension IntrospectionReader {
    /// Refuses what has no meaning here: a misspelt word would be ignored silently.
    private func check(
        _ element: XMLElement,
        attributes: Set<String>,
        children: Set<String>
    ) throws(SourceError) {
        for attribute in element.attributes where !attributes.contains(attribute.name) {
            throw error(
                element,
                "the attribute '\(attribute.name)' of <\(element.name)> is unknown"
            )
        }
        for child in element.children where !children.contains(child.name) {
            throw error(child, "<\(child.name)> inside <\(element.name)> is unknown")
        }
    }

    private func name(
        of element: XMLElement,
        _ what: String,
        where isValid: (String) -> Bool
    ) throws(SourceError) -> String {
        guard let name = element["name"] else { throw error(element, "\(what) is missing") }
        guard isValid(name) else { throw error(element, "'\(name)' is invalid as \(what)") }
        return name
    }

    private func type(of element: XMLElement) throws(SourceError) -> SignatureType {
        guard let text = element["type"] else { throw error(element, "the type is missing") }
        do {
            return try SignatureType(text)
        } catch {
            throw self.error(element, error.description)
        }
    }

    private func annotations(
        of parent: XMLElement,
        known: Set<String>
    ) throws(SourceError) -> [Annotation] {
        var result: [Annotation] = []
        for element in parent.children where element.name == "annotation" {
            try check(element, attributes: ["name", "value"], children: [])
            guard let name = element["name"], let value = element["value"] else {
                throw error(element, "an annotation needs a name and a value")
            }
            guard known.contains(name) else {
                throw error(element, "the annotation '\(name)' of <\(parent.name)> is unknown")
            }
            guard result.value(name) == nil else {
                throw error(element, "the annotation '\(name)' is there twice")
            }
            let text = name == Known.doc ? paragraphs(of: value) : value
            guard !text.isEmpty else { throw error(element, "the annotation '\(name)' is empty") }
            result.append(Annotation(name: name, value: text))
        }
        return result
    }

    private func doc(
        _ notes: [Annotation],
        of element: XMLElement,
        _ what: String
    ) throws(SourceError) -> String {
        guard let doc = notes.value(Known.doc) else { throw error(element, "\(what) has no doc") }
        return doc
    }

    private func choice<Value>(
        _ notes: [Annotation],
        _ name: String,
        of element: XMLElement,
        _ read: (String) -> Value?
    ) throws(SourceError) -> Value? {
        guard let text = notes.value(name) else { return nil }
        guard let value = read(text) else {
            throw error(element, "the value '\(text)' of '\(name)' is unknown")
        }
        return value
    }

    private func errors(
        _ notes: [Annotation],
        of element: XMLElement
    ) throws(SourceError) -> [String] {
        let names = (notes.value(Known.errors) ?? "").split(whereSeparator: \.isWhitespace)
        var result: [String] = []
        for name in names.map(String.init) {
            guard Names.isInterface(name) else {
                throw error(element, "'\(name)' is no error name")
            }
            guard !result.contains(name) else {
                throw error(element, "the error '\(name)' is there twice")
            }
            result.append(name)
        }
        return result
    }

    /// Reads `Template(id,label,created)`, which must fit the structure in the argument's type.
    private func structure(
        _ notes: [Annotation],
        of element: XMLElement,
        type: SignatureType
    ) throws(SourceError) -> StructureNames? {
        guard let text = notes.value(Known.type) else { return nil }
        let parts = text.split(separator: "(", omittingEmptySubsequences: false)
        guard parts.count == 2, Names.isUpperCamel(parts[0]), parts[1].last == ")" else {
            throw error(element, "'\(text)' is not like 'Name(field,field)'")
        }
        let fields = parts[1].dropLast().split(separator: ",", omittingEmptySubsequences: false)
        guard fields.allSatisfy({ Names.isLowerCamel($0) }), Set(fields).count == fields.count
        else {
            throw error(element, "'\(text)' has a field name that is invalid or there twice")
        }
        guard let structure = type.structure, structure.count == fields.count else {
            throw error(element, "'\(text)' doesn't fit the type '\(type.text)'")
        }
        return StructureNames(name: String(parts[0]), fields: fields.map(String.init))
    }

    /// A stream is an `Event` signal to the caller alone, of a fixed form.
    private func checkStream(of method: Method, in interface: Interface) throws(SourceError) {
        guard let stream = method.stream else { return }
        let isOperation = stream == .operation
        let event = interface.signals.first { $0.name == "Event" }
        guard let event, event.isUnicast,
            event.arguments.signature == (isOperation ? "tsa{sv}" : "sa{sv}"),
            !isOperation || method.inputs.first?.type == .basic("t")
        else {
            throw SourceError(
                file: file,
                line: method.line,
                "the stream '\(stream.rawValue)' of '\(method.name)' has no unicast signal 'Event'"
                    + " that fits"
            )
        }
    }

    private func error(_ element: XMLElement, _ message: String) -> SourceError {
        SourceError(file: file, line: element.line, message)
    }
}

extension SignatureType {
    /// The fields of a structure, or of the structures in an array.
    public var structure: [SignatureType]? {
        switch self {
        case .structure(let fields), .array(.structure(let fields)): fields
        default: nil
        }
    }
}

extension [Annotation] {
    fileprivate func value(_ name: String) -> String? { first { $0.name == name }?.value }
}

/// Joins the lines of each paragraph; an item that starts with `- ` keeps its own line.
private func paragraphs(of text: String) -> String {
    var result = ""
    var separator = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else {
            separator = result.isEmpty ? "" : "\n\n"
            continue
        }
        if words[0] == "-", separator == " " { separator = "\n" }
        result += separator + words.joined(separator: " ")
        separator = " "
    }
    return result
}

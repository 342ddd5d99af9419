import DBusModel

extension SourceText {
    /// The names of an interface, and what the runtime and the Introspect call know of it.
    mutating func description(_ interface: Interface) {
        doc("The names of `\(interface.name)`.")
        block("public enum \(interface.prefix)") { source in
            source.doc("The name of the interface.")
            source.line("public static let interface = \"\(interface.name)\"")
            if let path = interface.path {
                source.line()
                source.doc("Where the object with it is.")
                source.line("public static let path = ObjectPath(trusted: \"\(path)\")")
            }
            if let busName = interface.busName {
                source.line()
                source.doc("The bus name of the program that has the object.")
                source.line("public static let busName = \"\(busName)\"")
            }
        }
        line()
        block("extension \(interface.prefix)Interface") { source in
            source.doc("The members of `\(interface.name)` and its introspection data.")
            source.line("public nonisolated static let description = InterfaceDescription(")
            source.indented { source in
                source.line("name: \(interface.prefix).interface,")
                source.elements("methods: [", empty: "methods: [:]", methods(of: interface))
                source.elements("properties: [", empty: "properties: []", properties(of: interface))
                source.line("introspection: introspection")
            }
            source.line(")")
        }
        line()
        line("private let introspection = \"\"\"")
        indented { source in
            for text in introspection(interface) { source.literal(text) }
            source.line("\"\"\"")
        }
    }

    private mutating func elements(_ head: String, empty: String, _ items: [[String]]) {
        guard !items.isEmpty else { return line(empty + ",") }
        line(head)
        indented { source in
            // swift-format leaves the comma of a single element out.
            let tail = items.count == 1 ? ")" : "),"
            for item in items { source.list(item[0], Array(item[1...]), tail) }
        }
        line("],")
    }

    /// One line of a string literal over several source lines.
    private mutating func literal(_ text: String) {
        let escaped = text.replacing("\\", with: "\\\\")
        let room = Self.width - Self.indentation - 2
        let margin = escaped.prefix { $0 == " " }
        var current = String(margin)
        for word in escaped.split(separator: " ") {
            let isFirst = current == margin
            if !isFirst, current.count + 1 + word.count > room {
                line(current + " \\")
                current = String(word)
            } else {
                current += (isFirst ? "" : " ") + word
            }
        }
        line(current)
    }
}

private func methods(of interface: Interface) -> [[String]] {
    interface.methods.map { method in
        [
            "\"\(method.name)\": .init(", "name: \"\(method.name)\"",
            "input: \"\(method.inputs.signature)\"", "output: \"\(method.outputs.signature)\"",
        ] + (method.isSensitive ? ["isSensitive: true"] : [])
    }
}

private func properties(of interface: Interface) -> [[String]] {
    interface.properties.map { property in
        [
            ".init(", "name: \"\(property.name)\"", "signature: \"\(property.type.text)\"",
            "isWritable: \(property.isWritable)", "change: .\(property.change)",
        ]
    }
}

/// The `<interface>` element, a line of XML each.
private func introspection(_ interface: Interface) -> [String] {
    var lines = ["<interface name=\"\(interface.name)\">"]
    lines += annotations(interface.annotations, "  ")
    for method in interface.methods {
        lines.append("  <method name=\"\(method.name)\">")
        lines += annotations(method.annotations, "    ")
        lines += arguments(method.inputs, direction: " direction=\"in\"")
        lines += arguments(method.outputs, direction: " direction=\"out\"")
        lines.append("  </method>")
    }
    for signal in interface.signals {
        lines.append("  <signal name=\"\(signal.name)\">")
        lines += annotations(signal.annotations, "    ")
        lines += arguments(signal.arguments, direction: "")
        lines.append("  </signal>")
    }
    for property in interface.properties {
        let access = property.isWritable ? "readwrite" : "read"
        lines.append(
            "  <property name=\"\(property.name)\" type=\"\(property.type.text)\""
                + " access=\"\(access)\">"
        )
        lines += annotations(property.annotations, "    ")
        lines.append("  </property>")
    }
    return lines + ["</interface>"]
}

private func arguments(_ arguments: [Argument], direction: String) -> [String] {
    arguments.flatMap { argument in
        let start = "    <arg name=\"\(argument.name)\" type=\"\(argument.type.text)\"\(direction)"
        return argument.annotations.isEmpty
            ? [start + "/>"]
            : [start + ">"] + annotations(argument.annotations, "      ") + ["    </arg>"]
    }
}

private func annotations(_ annotations: [Annotation], _ margin: String) -> [String] {
    annotations.map { note in
        "\(margin)<annotation name=\"\(note.name)\" value=\"\(escaped(note.value))\"/>"
    }
}

private func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\n": result += "&#10;"
        default: result.append(character)
        }
    }
    return result
}

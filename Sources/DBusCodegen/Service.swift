import DBusModel

extension SourceText {
    /// The protocol, its adapter to the bus, and the sender of its signals.
    mutating func service(_ interface: Interface) {
        serviceProtocol(interface)
        line()
        adapter(interface)
        if !interface.signals.isEmpty {
            line()
            signals(interface)
        }
    }

    private mutating func serviceProtocol(_ interface: Interface) {
        doc(interface.doc)
        line("@BusActor")
        block("public protocol \(interface.prefix)Service: AnyObject") { source in
            var separator = Separator()
            for method in interface.methods {
                separator.next(&source)
                source.doc(method.doc, arguments: (method.inputs + method.outputs).docs)
                source.list(
                    "func \(quoted(lowerCamel(method.name)))(",
                    method.inputs.map(\.parameter) + ["call: IncomingCall"],
                    ") throws(DBusError) -> Answer<\(method.outputs.swift)>"
                )
            }
            for property in interface.properties {
                let name = lowerCamel(property.name)
                separator.next(&source)
                source.doc(property.doc)
                source.line(
                    "func \(quoted(name))(for peer: Peer?) throws(DBusError) -> \(property.swift)"
                )
                guard property.isWritable else { continue }
                source.line()
                source.doc("Sets `\(property.name)`.")
                source.line(
                    "func set\(property.name)(_ value: \(property.swift), by peer: Peer)"
                        + " throws(DBusError)"
                )
            }
        }
    }

    private mutating func adapter(_ interface: Interface) {
        let prefix = interface.prefix
        doc("Serves `\(interface.name)` by a `\(prefix)Service`, which it keeps.")
        block("public struct \(prefix)Interface: ServedInterface") { source in
            source.line("private let service: any \(prefix)Service")
            source.line()
            source.doc("Makes the adapter of a service.")
            source.block("public init(_ service: any \(prefix)Service)") { source in
                source.line("self.service = service")
            }
            source.line()
            source.invoke(interface)
            source.line()
            source.get(interface)
            source.line()
            source.set(interface)
            for method in interface.methods {
                source.line()
                source.dispatch(method)
            }
        }
    }

    private mutating func invoke(_ interface: Interface) {
        doc("Decodes a call, hands it to the service and answers it.")
        let head = "public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError)"
        block(head) { source in
            source.cases(
                "member",
                interface.methods.map { method in
                    (method.name, "try \(quoted(lowerCamel(method.name)))(call)")
                },
                otherwise: "throw DBusError(.unknownMethod, \"There is no such method.\")"
            )
        }
    }

    private mutating func get(_ interface: Interface) {
        doc("Writes the value of a property.")
        list(
            "public func get(",
            ["_ property: String", "for peer: Peer?", "into writer: inout MessageWriter"],
            ") throws(DBusError) {"
        )
        indented { source in
            source.cases(
                "property",
                interface.properties.map { property in
                    let name = quoted(lowerCamel(property.name))
                    return (property.name, "try writer.write(service.\(name)(for: peer))")
                },
                otherwise: "throw DBusError(.unknownProperty, \"There is no such property.\")"
            )
        }
        line("}")
    }

    private mutating func set(_ interface: Interface) {
        doc("Reads the new value of a property and hands it to the service.")
        list(
            "public func set(",
            ["_ property: String", "from reader: inout MessageReader", "by peer: Peer"],
            ") throws(DBusError) {"
        )
        indented { source in
            source.cases(
                "property",
                interface.properties.filter(\.isWritable)
                    .map { property in
                        (
                            property.name,
                            "try service.set\(property.name)"
                                + "(reader.read(\(property.swift).self), by: peer)"
                        )
                    },
                otherwise: "throw DBusError(.propertyReadOnly, \"The property is read-only.\")"
            )
        }
        line("}")
    }

    /// A switch over names, or only its default where there are no names.
    private mutating func cases(
        _ subject: String,
        _ cases: [(name: String, body: String)],
        otherwise: String
    ) {
        guard !cases.isEmpty else { return line(otherwise) }
        line("switch \(subject) {")
        for item in cases { choice("case \"\(item.name)\":", item.body) }
        line("default: \(otherwise)")
        line("}")
    }

    private mutating func dispatch(_ method: Method) {
        let name = quoted(lowerCamel(method.name))
        block("private func \(name)(_ call: IncomingCall) throws(DBusError)") { source in
            let isSingle = method.inputs.count == 1
            source.decode(
                method.inputs,
                method.inputs.isEmpty ? "try call.read" : "let input = try call.read"
            )
            let arguments = method.inputs.map { input in
                "\(input.name): \(isSingle ? "input" : "input.\(quoted(input.name))")"
            }
            source.list(
                "let answer = try service.\(name)(",
                arguments + ["call: call"],
                ")"
            )
            guard !method.outputs.isEmpty else {
                source.line("call.answer(answer, \"\") { (_, _) throws(DBusError) in }")
                return
            }
            let head = "call.answer(answer, \"\(method.outputs.signature)\")"
            source.line("\(head) { (value, writer) throws(DBusError) in")
            source.indented { source in
                for output in method.outputs {
                    let value = method.outputs.count == 1 ? "value" : "value.\(quoted(output.name))"
                    source.line("try writer.write(\(value))")
                }
            }
            source.line("}")
        }
    }

    /// Adds `prefix("signature") { … }` that reads the arguments: a value, or a tuple of several.
    mutating func decode(_ arguments: [Argument], _ head: String) {
        guard !arguments.isEmpty else {
            return line("\(head)(\"\") { (_) throws(DBusError) in }")
        }
        line("\(head)(\"\(arguments.signature)\") { (reader) throws(DBusError) in")
        indented { source in
            if arguments.count == 1 {
                source.line("try \(arguments[0].read)")
            } else {
                source.list(
                    "(",
                    arguments.map { "\(quoted($0.name)): try \($0.read)" },
                    ")"
                )
            }
        }
        line("}")
    }

    private mutating func signals(_ interface: Interface) {
        doc("Sends the signals of `\(interface.name)` from one object.")
        line("@BusActor")
        block("public struct \(interface.prefix)Signals") { source in
            source.line("private let connection: Connection")
            source.line("private let path: ObjectPath")
            source.line()
            source.doc("Makes the sender of the object at a path.")
            source.block("public init(_ connection: Connection, path: ObjectPath)") { source in
                source.line("self.connection = connection")
                source.line("self.path = path")
            }
            for signal in interface.signals {
                source.line()
                source.emit(signal, of: interface)
            }
        }
    }

    private mutating func emit(_ signal: Signal, of interface: Interface) {
        doc(signal.doc, arguments: signal.arguments.docs)
        list(
            "public func \(quoted(lowerCamel(signal.name)))(",
            signal.arguments.map(\.parameter)
                + [signal.isUnicast ? "to destination: String" : "to destination: String? = nil"],
            ") {"
        )
        indented { source in
            source.send(
                "connection.emit(",
                [
                    "path: path", "interface: \(interface.prefix).interface",
                    "member: \"\(signal.name)\"",
                    "signature: \"\(signal.arguments.signature)\"", "to: destination",
                ],
                signal.arguments
            )
        }
        line("}")
    }

    /// Adds a call whose trailing closure writes the arguments, if there are any.
    mutating func send(_ head: String, _ items: [String], _ arguments: [Argument]) {
        guard !arguments.isEmpty else { return list(head, items, ")") }
        list(head, items, ") { (writer) throws(DBusError) in")
        write(arguments)
        line("}")
    }

    /// Adds the lines that write the arguments, one deeper.
    mutating func write(_ arguments: [Argument]) {
        indented { source in
            for argument in arguments { source.line("try writer.write(\(quoted(argument.name)))") }
        }
    }
}

/// An empty line between members, not in front of the first.
struct Separator {
    private var isFirst = true

    mutating func next(_ source: inout SourceText) {
        if !isFirst { source.line() }
        isFirst = false
    }
}

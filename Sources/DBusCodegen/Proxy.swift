import DBusModel

extension SourceText {
    /// The calls of an interface from the client's side.
    mutating func proxy(_ interface: Interface) {
        doc(
            "Calls `\(interface.name)` of one object; the docs are at `\(interface.prefix)Service`."
        )
        line("@BusActor")
        block("public struct \(interface.prefix)Proxy: Sendable") { source in
            source.proxyStart(interface)
            for method in interface.methods {
                source.line()
                source.call(method)
                if method.outputs.isEmpty {
                    source.line()
                    source.notify(method)
                }
                if let stream = method.stream {
                    source.line()
                    source.stream(method, stream)
                }
            }
            for property in interface.properties {
                source.line()
                source.getter(property)
                if property.isWritable {
                    source.line()
                    source.setter(property)
                }
            }
            for signal in interface.signals {
                source.line()
                source.subscription(signal)
            }
            if !interface.properties.isEmpty { source.allProperties() }
        }
    }

    private mutating func proxyStart(_ interface: Interface) {
        line("private nonisolated static let interface = \(interface.prefix).interface")
        line()
        doc("What the calls go over.")
        line("public let connection: Connection")
        line()
        doc("The bus name that the calls go to.")
        line("public let destination: String")
        line()
        doc("The object that the calls go to.")
        line("public let path: ObjectPath")
        line()
        doc("Makes the proxy of an object; nothing is sent.")
        line("public init(_ connection: Connection, destination: String, path: ObjectPath) {")
        indented { source in
            source.line("self.connection = connection")
            source.line("self.destination = destination")
            source.line("self.path = path")
        }
        line("}")
    }

    private mutating func call(_ method: Method) {
        doc(summary(method.doc))
        list(
            "public func \(quoted(lowerCamel(method.name)))(",
            method.inputs.map(\.parameter) + ["timeout: Duration? = \(method.defaultTimeout)"],
            ") async throws(DBusError)\(method.outputs.returns) {"
        )
        indented { source in
            source.send(
                "let reply = try await connection.call(",
                method.header + ["timeout: timeout"],
                method.inputs
            )
            source.decode(
                method.outputs,
                method.outputs.isEmpty ? "try reply.read" : "return try reply.read"
            )
        }
        line("}")
    }

    private mutating func notify(_ method: Method) {
        doc("Sends `\(method.name)` and asks for no reply.")
        list(
            "public func send\(method.name)(",
            method.inputs.map(\.parameter),
            ") {"
        )
        indented { source in
            source.send("connection.send(", method.header, method.inputs)
        }
        line("}")
    }

    private mutating func stream(_ method: Method, _ stream: Stream) {
        let match =
            switch stream {
            case .path, .call: ".\(stream.rawValue)"
            case .operation: ".operation(\(method.inputs.first.map { quoted($0.name) } ?? ""))"
            }
        doc("Starts `\(method.name)` and follows its events until the reply.")
        list(
            "public func \(lowerCamel(method.name))Stream(",
            method.inputs.map(\.parameter),
            ") throws(DBusError) -> StreamingCall<\(method.outputs.swift)> {"
        )
        indented { source in
            source.list(
                "try connection.stream(",
                method.header + ["matching: \(match)"],
                ") { (\(method.inputs.isEmpty ? "_" : "writer")) throws(DBusError) in"
            )
            source.write(method.inputs)
            source.line("} reply: { (reply) throws(DBusError) in")
            source.indented { $0.decode(method.outputs, "try reply.read") }
            source.line("}")
        }
        line("}")
    }

    private mutating func getter(_ property: Property) {
        doc(summary(property.doc))
        let name = quoted(lowerCamel(property.name))
        block("public func \(name)() async throws(DBusError) -> \(property.swift)") { source in
            source.list(
                "try await connection.property(",
                [
                    "\"\(property.name)\"", "of: Self.interface", "at: path", "on: destination",
                    "as: \(property.swift).self",
                ],
                ")"
            )
        }
    }

    private mutating func setter(_ property: Property) {
        let head = "public func set\(property.name)(_ value: \(property.swift))"
        doc("Sets `\(property.name)`.")
        block("\(head) async throws(DBusError)") { source in
            source.list(
                "try await connection.setProperty(",
                [
                    "\"\(property.name)\"", "of: Self.interface", "at: path", "on: destination",
                    "to: value",
                ],
                ")"
            )
        }
    }

    private mutating func subscription(_ signal: Signal) {
        let names = signal.arguments.map { quoted($0.name) }
        let types = signal.arguments.map { "_ \(quoted($0.name)): \($0.swift)" }
        doc("\(summary(signal.doc))\n\n\(senderDoc)")
        line("public func on\(signal.name)(")
        indented { source in
            source.line("sender: String? = nil,")
            source.closure("_ body:", "@escaping @BusActor (", types, ") -> Void")
        }
        line(") -> EventSource {")
        indented { source in
            source.list(
                "connection.subscribe(",
                [
                    "sender: sender ?? destination", "path: path", "interface: Self.interface",
                    "member: \"\(signal.name)\"", "broadcast: \(!signal.isUnicast)",
                ],
                ") { message in"
            )
            source.indented { source in
                source.decode(signal.arguments, "let values = try? message.read")
                source.line("guard let values else { return }")
                let values = names.count == 1 ? ["values"] : names.map { "values.\($0)" }
                source.list("body(", values, ")")
            }
            source.line("}")
        }
        line("}")
    }

    private mutating func allProperties() {
        line()
        doc("All properties with their present values.")
        let head = "public func properties(timeout: Duration? = nil) async throws(DBusError)"
        block("\(head) -> [String: Variant]") { source in
            source.list(
                "try await connection.properties(",
                ["of: Self.interface", "at: path", "on: destination", "timeout: timeout"],
                ")"
            )
        }
        line()
        doc(
            "Tells what properties have changed, with the new values of some.\n\n\(senderDoc)"
                + " Without `broadcast` only what is sent to this connection by name is told."
        )
        line("public func onPropertiesChanged(")
        indented { source in
            source.line("sender: String? = nil,")
            source.line("broadcast: Bool = true,")
            source.line(
                "_ body: @escaping @BusActor (_ changed: [String: Variant],"
                    + " _ invalidated: [String])"
                    + " -> Void"
            )
        }
        line(") -> EventSource {")
        indented { source in
            source.list(
                "connection.onPropertiesChanged(",
                [
                    "of: Self.interface", "at: path", "sender: sender ?? destination",
                    "broadcast: broadcast", "body",
                ],
                ")"
            )
        }
        line("}")
    }
}

private let senderDoc =
    "The sender is a unique name; where it is left out, `destination` must be one."

extension Method {
    /// Where a call of it goes.
    fileprivate var header: [String] {
        [
            "to: destination", "path: path", "interface: Self.interface", "member: \"\(name)\"",
            "signature: \"\(inputs.signature)\"",
        ] + (isSensitive ? ["isSensitive: true"] : [])
    }

    /// How long a call of it waits where the caller says nothing.
    fileprivate var defaultTimeout: String {
        stream == nil && timeout == nil ? "nil" : "Connection.noTimeout"
    }
}

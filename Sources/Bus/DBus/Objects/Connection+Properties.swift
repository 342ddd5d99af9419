extension Connection {
    /// Returns a property of another process's object.
    ///
    /// - Throws: The error that was answered; `InvalidArgs` when the value has another type.
    public func property<Value: WireType>(
        _ name: String,
        of interface: String,
        at path: ObjectPath,
        on destination: String,
        as type: Value.Type,
        timeout: Duration? = nil
    ) async throws(DBusError) -> Value {
        let reply = try await call(
            to: destination,
            path: path,
            interface: StandardInterface.properties,
            member: "Get",
            signature: "ss",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(interface)
            try writer.write(name)
        }
        return try reply.read("v") { (reader) throws(DBusError) in
            try reader.variant { (reader, _) throws(DBusError) in try reader.read(type) }
        }
    }

    /// Sets a property of another process's object.
    ///
    /// - Throws: The error that was answered.
    public func setProperty<Value: WireType>(
        _ name: String,
        of interface: String,
        at path: ObjectPath,
        on destination: String,
        to value: Value
    ) async throws(DBusError) {
        _ = try await call(
            to: destination,
            path: path,
            interface: StandardInterface.properties,
            member: "Set",
            signature: "ssv"
        ) { (writer) throws(DBusError) in
            try writer.write(interface)
            try writer.write(name)
            try writer.variant(Value.signature) { (writer) throws(DBusError) in
                try writer.write(value)
            }
        }
    }

    /// Returns all properties of an interface of another process's object.
    ///
    /// - Throws: The error that was answered.
    public func properties(
        of interface: String,
        at path: ObjectPath,
        on destination: String,
        timeout: Duration? = nil
    ) async throws(DBusError) -> [String: Variant] {
        let reply = try await call(
            to: destination,
            path: path,
            interface: StandardInterface.properties,
            member: "GetAll",
            signature: "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(interface)
        }
        return try reply.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
    }

    /// Calls `body` with the new values, and the names of properties that changed without a value.
    ///
    /// - Returns: A source that ends the subscription when canceled.
    public func onPropertiesChanged(
        of interface: String,
        at path: ObjectPath,
        sender: String,
        broadcast: Bool,
        _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
    ) -> EventSource {
        subscribe(
            sender: sender,
            path: path,
            interface: StandardInterface.properties,
            member: "PropertiesChanged",
            broadcast: broadcast
        ) { message in
            let change = try? message.read("sa{sv}as") { (reader) throws(DBusError) in
                (
                    interface: try reader.read(String.self),
                    changed: try reader.read([String: Variant].self),
                    invalidated: try reader.read([String].self)
                )
            }
            guard let change, change.interface == interface else { return }
            body(change.changed, change.invalidated)
        }
    }
}

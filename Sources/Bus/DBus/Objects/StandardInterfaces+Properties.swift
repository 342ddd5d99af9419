extension ExportedObject {
    func interface(_ name: String) -> (any ServedInterface)? {
        interfaces.first { type(of: $0).description.name == name }
    }

    func property(
        _ name: String,
        of interface: String
    ) throws(DBusError) -> (served: any ServedInterface, property: InterfaceDescription.Property) {
        guard let served = self.interface(interface) else {
            throw DBusError(.unknownInterface, "There is no interface '\(interface)'.")
        }
        let properties = type(of: served).description.properties
        guard let property = properties.first(where: { $0.name == name }) else {
            throw DBusError(.unknownProperty, "There is no property '\(name)'.")
        }
        return (served, property)
    }
}

extension Connection {
    func answerProperties(
        _ standard: StandardCall,
        _ object: ExportedObject
    ) throws(DBusError) {
        let properties = StandardInterface.properties
        if standard.isFor(properties, "Get") {
            try get(standard, object)
        } else if standard.isFor(properties, "GetAll") {
            try getAll(standard, object)
        } else if standard.isFor(properties, "Set") {
            try set(standard, object)
        } else if let interface = standard.interface,
            interface != properties, interface != StandardInterface.introspectable,
            interface != StandardInterface.objectManager
                || !objects.managers.contains(standard.path)
        {
            throw DBusError(.unknownInterface, "There is no interface '\(interface)'.")
        } else {
            throw Self.unknownMethod(standard.member)
        }
    }

    private func get(_ standard: StandardCall, _ object: ExportedObject) throws(DBusError) {
        let peer = standard.call.peer
        let found = try standard.call.read("ss") { (reader) throws(DBusError) in
            let interface = try reader.read(String.self)
            return try object.property(try reader.read(String.self), of: interface)
        }
        try answer(standard, object.preparation?(found.property.name, peer), "v") {
            (writer) throws(DBusError) in
            try writer.variant(found.property.signature) { (writer) throws(DBusError) in
                try found.served.get(found.property.name, for: peer, into: &writer)
            }
        }
    }

    private func getAll(_ standard: StandardCall, _ object: ExportedObject) throws(DBusError) {
        let peer = standard.call.peer
        let name = try standard.call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        guard let served = object.interface(name) else {
            guard name.hasPrefix("org.freedesktop.DBus.") || name.isEmpty else {
                throw DBusError(.unknownInterface, "There is no interface '\(name)'.")
            }
            // The standard interfaces have no properties.
            return try answer(standard, nil, "a{sv}") { (writer) throws(DBusError) in
                try writer.write([String: Variant]())
            }
        }
        let properties = type(of: served).description.properties
        try answer(standard, object.preparation?(nil, peer), "a{sv}") {
            (writer) throws(DBusError) in
            try StandardInterface.write(properties, of: served, for: peer, to: &writer)
        }
    }

    /// Answers at once, or after the preparation.
    ///
    /// A call with a preparation counts as a question.
    private func answer(
        _ standard: StandardCall,
        _ preparation: (@BusActor @Sendable () async -> Void)?,
        _ output: String,
        _ write: @escaping @Sendable @BusActor (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard let preparation else {
            return try standard.reply(output) { (writer) throws(DBusError) in try write(&writer) }
        }
        standard.call.ticket = try callGuard?
            .admit(
                "Get",
                of: StandardInterface.properties,
                from: standard.call.peer
            )
        let answer = Answer<Void>.later { () throws(DBusError) in await preparation() }
        standard.call.answer(answer, output) { (_, writer) throws(DBusError) in try write(&writer) }
    }

    private func set(_ standard: StandardCall, _ object: ExportedObject) throws(DBusError) {
        let peer = standard.call.peer
        try standard.reply("ssv", "") { (reader) throws(DBusError) in
            let interface = try reader.read(String.self)
            let found = try object.property(try reader.read(String.self), of: interface)
            let property = found.property
            guard property.isWritable else {
                throw DBusError(.propertyReadOnly, "'\(property.name)' is read-only.")
            }
            try reader.variant { (reader, signature) throws(DBusError) in
                guard signature == property.signature else {
                    throw DBusError(
                        .invalidArgs,
                        "'\(property.name)' is '\(property.signature)', not '\(signature)'."
                    )
                }
                try found.served.set(property.name, from: &reader, by: peer)
            }
        } write: { (_, _) throws(DBusError) in
        }
    }
}

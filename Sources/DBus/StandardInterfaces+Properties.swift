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
                || !objectManagers.contains(standard.path)
        {
            throw DBusError(.unknownInterface, "There is no interface '\(interface)'.")
        } else {
            throw Self.unknownMethod(standard.member)
        }
    }

    private func get(_ standard: StandardCall, _ object: ExportedObject) throws(DBusError) {
        let peer = standard.call.peer
        try standard.reply("ss", "v") { (reader) throws(DBusError) in
            let interface = try reader.read(String.self)
            return try object.property(try reader.read(String.self), of: interface)
        } write: { (found, writer) throws(DBusError) in
            try writer.variant(found.property.signature) { (writer) throws(DBusError) in
                try found.served.get(found.property.name, for: peer, into: &writer)
            }
        }
    }

    private func getAll(_ standard: StandardCall, _ object: ExportedObject) throws(DBusError) {
        let peer = standard.call.peer
        try standard.reply("s", "a{sv}") { (reader) throws(DBusError) in
            try reader.read(String.self)
        } write: { (name, writer) throws(DBusError) in
            let served = object.interface(name)
            guard let served else {
                guard name.hasPrefix("org.freedesktop.DBus.") || name.isEmpty else {
                    throw DBusError(.unknownInterface, "There is no interface '\(name)'.")
                }
                // The standard interfaces have no properties.
                try writer.write([String: Variant]())
                return
            }
            let properties = type(of: served).description.properties
            try StandardInterface.write(properties, of: served, for: peer, to: &writer)
        }
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

extension Connection {
    func managedObjects(_ standard: StandardCall) throws(DBusError) {
        let peer = standard.call.peer
        let prefix = Self.prefix(standard.path)
        let listed =
            objects.exported
            .filter { path, object in
                object.isManaged && object.isVisible(to: peer) && path.hasPrefix(prefix)
            }
            .sorted { $0.key < $1.key }
        try standard.reply("", "a{oa{sa{sv}}}") { (_) throws(DBusError) in
        } write: { (_, writer) throws(DBusError) in
            let limit = MessageLimits.array
            try writer.array("{oa{sa{sv}}}", count: listed.count, limit: limit) {
                (writer) throws(DBusError) in
                for (path, object) in listed {
                    try writer.entry("oa{sa{sv}}") { (writer) throws(DBusError) in
                        try writer.write(ObjectPath(unchecked: path))
                        try Self.write(object, for: peer, to: &writer)
                    }
                }
            }
        }
    }

    func announceAdded(_ path: String, _ object: ExportedObject) {
        announce(path, object, "InterfacesAdded", "oa{sa{sv}}") { (writer) throws(DBusError) in
            try Self.write(object, for: object.owner, to: &writer)
        }
    }

    func announceRemoved(_ path: String, _ object: ExportedObject) {
        announce(path, object, "InterfacesRemoved", "oas") { (writer) throws(DBusError) in
            try writer.write(object.interfaces.map { type(of: $0).description.name })
        }
    }

    /// Emits the signal from each manager above the object, to the object's owner or as a
    /// broadcast.
    private func announce(
        _ path: String,
        _ object: ExportedObject,
        _ member: String,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        for manager in objects.managers where path.hasPrefix(Self.prefix(manager)) {
            emit(
                path: ObjectPath(unchecked: manager),
                interface: StandardInterface.objectManager,
                member: member,
                signature: signature,
                to: object.owner?.name
            ) { (writer) throws(DBusError) in
                try writer.write(ObjectPath(unchecked: path))
                try encode(&writer)
            }
        }
    }

    private static func write(
        _ object: ExportedObject,
        for peer: Peer?,
        to writer: inout MessageWriter
    ) throws(DBusError) {
        let count = object.interfaces.count
        try writer.array("{sa{sv}}", count: count, limit: MessageLimits.dictionary) {
            (writer) throws(DBusError) in
            for served in object.interfaces {
                let description = type(of: served).description
                try writer.entry("sa{sv}") { (writer) throws(DBusError) in
                    try writer.write(description.name)
                    try StandardInterface.write(
                        description.properties,
                        of: served,
                        for: peer,
                        to: &writer
                    )
                }
            }
        }
    }

    private static func prefix(_ manager: String) -> String {
        manager == "/" ? manager : manager + "/"
    }
}

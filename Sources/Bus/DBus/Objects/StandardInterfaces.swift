import CSystemd

/// Names of the standard interfaces.
@BusActor
enum StandardInterface {
    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let peer = "org.freedesktop.DBus.Peer"

    static func write(
        _ properties: [InterfaceDescription.Property],
        of served: any ServedInterface,
        for peer: Peer?,
        to writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.array("{sv}", count: properties.count, limit: MessageLimits.dictionary) {
            (writer) throws(DBusError) in
            for property in properties {
                try writer.entry("sv") { (writer) throws(DBusError) in
                    try writer.write(property.name)
                    try writer.variant(property.signature) { (writer) throws(DBusError) in
                        try served.get(property.name, for: peer, into: &writer)
                    }
                }
            }
        }
    }
}

/// A call that no exported interface has handled.
@BusActor
struct StandardCall {
    let call: IncomingCall
    let path: String
    let object: ExportedObject?
    let interface: String?
    let member: String

    func isFor(_ interface: String, _ member: String) -> Bool {
        self.member == member && (self.interface == nil || self.interface == interface)
    }

    /// Reads the arguments and answers.
    ///
    /// An error of either closure becomes the answer.
    func reply<Input>(
        _ input: String,
        _ output: String,
        read: (inout MessageReader) throws(DBusError) -> Input,
        write: (Input, inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        let arguments = try call.read(input, read)
        try reply(output) { (writer) throws(DBusError) in try write(arguments, &writer) }
    }

    /// Answers a call after its arguments were read.
    func reply(
        _ output: String,
        write: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try call.answer(output, write)
    }
}

extension Connection {
    func answer(_ standard: StandardCall) throws(DBusError) {
        let isManager = objects.managers.contains(standard.path)
        if standard.interface == StandardInterface.peer {
            try answerPeer(standard)
        } else if standard.isFor(StandardInterface.introspectable, "Introspect") {
            try introspect(standard)
        } else if isManager, standard.isFor(StandardInterface.objectManager, "GetManagedObjects") {
            try managedObjects(standard)
        } else if let object = standard.object {
            try answerProperties(standard, object)
        } else {
            throw Self.unknownObject(standard.path)
        }
    }

    static func unknownObject(_ path: String) -> DBusError {
        DBusError(.unknownObject, "There is no object '\(path)'.")
    }

    // MARK: Peer

    /// Answers Peer calls here, because sd-bus would answer them past the guard.
    private func answerPeer(_ standard: StandardCall) throws(DBusError) {
        switch standard.member {
        case "Ping":
            try standard.reply("", "") { (_) throws(DBusError) in
            } write: { (_, _) throws(DBusError) in
            }
        case "GetMachineId":
            try standard.reply("", "s") { (_) throws(DBusError) in
                var machine = sd_id128_t()
                guard sd_id128_get_machine(&machine) >= 0 else {
                    throw DBusError(.failed, "The machine has no id.")
                }
                return machine
            } write: { (machine, writer) throws(DBusError) in
                var text = [CChar](repeating: 0, count: 33)
                sd_id128_to_string(machine, &text)
                try writer.write(String(decoding: text.prefix(32).map(UInt8.init), as: UTF8.self))
            }
        default: throw Self.unknownMethod(standard.member)
        }
    }

    // MARK: Introspectable

    private func introspect(_ standard: StandardCall) throws(DBusError) {
        let object = standard.object
        let hasManager = objects.managers.contains(standard.path)
        let names = children(of: standard.path, for: standard.call.peer)
        // Paths above an object can be introspected, so that tools can walk the tree.
        guard object != nil || hasManager || !names.isEmpty || standard.path == "/" else {
            throw Self.unknownObject(standard.path)
        }
        try standard.reply("", "s") { (_) throws(DBusError) in
        } write: {
            (_, writer) throws(DBusError) in
            var text = Introspection.head
            text += Introspection.introspectable
            text += Introspection.peer
            if let object {
                text += Introspection.properties
                for served in object.interfaces {
                    text += type(of: served).description.introspection
                    text += "\n"
                }
            }
            if hasManager {
                text += Introspection.objectManager
            }
            for name in names {
                text += "  <node name=\"\(name)\"/>\n"
            }
            text += "</node>\n"
            // The document of a large tree may exceed the limit of strings.
            try writer.longText(text)
        }
    }

    /// Returns the next path elements of all objects beneath a path that the peer may see.
    private func children(of path: String, for peer: Peer) -> [String] {
        let prefix = path == "/" ? path : path + "/"
        var names: Set<String> = []
        func add(_ other: String) {
            guard other.utf8.count > prefix.utf8.count, other.hasPrefix(prefix) else { return }
            let rest = other.utf8.dropFirst(prefix.utf8.count)
            if let name = String(rest.prefix { $0 != UInt8(ascii: "/") }) {
                names.insert(name)
            }
        }
        for (other, object) in objects.exported where object.isVisible(to: peer) {
            add(other)
        }
        for other in objects.managers {
            add(other)
        }
        return names.sorted()
    }
}

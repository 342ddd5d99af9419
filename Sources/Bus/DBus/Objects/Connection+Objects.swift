import CSystemd

@BusActor
struct ExportedObject {
    let interfaces: [any ServedInterface]
    /// The only peer for which the object exists; nil for all peers.
    let owner: Peer?
    /// Whether object managers above the object list it.
    let isManaged: Bool
    /// Returns work that must end before `reader` may read `property`, or all of them (nil).
    let preparation: Preparation?

    typealias Preparation =
        @BusActor (_ property: String?, _ reader: Peer) -> (@BusActor @Sendable () async -> Void)?

    func isVisible(to peer: Peer) -> Bool { owner == nil || owner === peer }
}

/// The objects that a connection serves.
struct ObjectTree {
    var exported: [String: ExportedObject] = [:]
    var managers: [String] = []

    /// Frees memory, because a dictionary never shrinks by itself.
    mutating func compact() {
        guard exported.capacity > 1024, exported.count < exported.capacity / 8 else { return }
        exported = Dictionary(uniqueKeysWithValues: exported.map { ($0.key, $0.value) })
    }
}

extension Connection {
    /// Serves interfaces at a path, replacing any former object there.
    ///
    /// - Parameters:
    ///   - path: The object.
    ///   - interfaces: Each with a different name. Introspectable, Properties and Peer are added
    ///     automatically.
    ///   - owner: The only caller for whom the object exists; nil for all callers.
    ///   - managed: Whether object managers above the object list it.
    ///   - preparation: Returns work to do before a property, or all of them (nil), are read.
    ///     Without work, the answer comes in the same turn of the loop.
    public func export(
        _ path: ObjectPath,
        _ interfaces: [any ServedInterface],
        visibleTo owner: Peer? = nil,
        managed: Bool = false,
        preparation: (
            @BusActor (_ property: String?, _ reader: Peer) -> (
                @BusActor @Sendable () async -> Void
            )?
        )? = nil
    ) {
        unexport(path)
        let object = ExportedObject(
            interfaces: interfaces,
            owner: owner,
            isManaged: managed,
            preparation: preparation
        )
        objects.exported[path.rawValue] = object
        if managed {
            announceAdded(path.rawValue, object)
        }
    }

    /// Stops serving a path.
    ///
    /// Running calls of the object still get their reply.
    public func unexport(_ path: ObjectPath) {
        guard let object = objects.exported.removeValue(forKey: path.rawValue) else { return }
        objects.compact()
        if object.isManaged { announceRemoved(path.rawValue, object) }
    }

    /// Lists the objects exported with `managed` beneath a path, and announces changes of the list.
    public func serveObjectManager(at path: ObjectPath) {
        guard !objects.managers.contains(path.rawValue) else { return }
        objects.managers.append(path.rawValue)
    }

    /// Announces properties by value or by name, as their descriptions say.
    ///
    /// - Parameters:
    ///   - path: The object.
    ///   - interface: The interface as exported there; gives the values.
    ///   - names: Properties of the interface; unknown names are left out.
    ///   - destination: A unique name; nil for the object's owner, or for a broadcast.
    public func propertiesChanged(
        _ path: ObjectPath,
        _ interface: any ServedInterface,
        _ names: [String],
        to destination: String? = nil
    ) {
        let description = type(of: interface).description
        let properties = description.properties.filter { names.contains($0.name) }
        let valued = properties.filter { $0.change == .value }
        let invalidated = properties.filter { $0.change == .invalidates }.map(\.name)
        guard !valued.isEmpty || !invalidated.isEmpty else { return }
        let owner = objects.exported[path.rawValue]?.owner
        emit(
            path: path,
            interface: StandardInterface.properties,
            member: "PropertiesChanged",
            signature: "sa{sv}as",
            to: destination ?? owner?.name
        ) { (writer) throws(DBusError) in
            try writer.write(description.name)
            try StandardInterface.write(valued, of: interface, for: owner, to: &writer)
            try writer.write(invalidated)
        }
    }

    // MARK: Dispatch

    package func dispatch(_ message: Message, of peer: Peer) {
        guard !peer.hasLeft else { return }
        message.caller = peer
        let call = IncomingCall(peer: peer, message: message)
        served += 1
        do throws(DBusError) {
            try dispatch(call)
        } catch {
            call.fail(error)
        }
    }

    private func dispatch(_ call: IncomingCall) throws(DBusError) {
        let pointer = call.message.pointer
        guard let rawPath = sd_bus_message_get_path(pointer),
            let rawMember = sd_bus_message_get_member(pointer)
        else { return }
        let path = String(cString: rawPath)
        let member = String(cString: rawMember)
        var object = objects.exported[path]
        if object?.isVisible(to: call.peer) == false { object = nil }
        let interface = sd_bus_message_get_interface(pointer).map { String(cString: $0) }
        for served in object?.interfaces ?? [] {
            let description = type(of: served).description
            guard interface == nil || interface == description.name else { continue }
            guard let method = description.methods[member] else {
                guard interface == nil else { throw Self.unknownMethod(member) }
                continue
            }
            if method.isSensitive { call.markSensitive() }
            call.ticket = try callGuard?.admit(member, of: description.name, from: call.peer)
            return try served.invoke(member, call)
        }
        let standard = StandardCall(
            call: call,
            path: path,
            object: object,
            interface: interface,
            member: member
        )
        try answer(standard)
    }

    static func unknownMethod(_ member: String) -> DBusError {
        DBusError(.unknownMethod, "There is no method '\(member)'.")
    }
}

internal import CameraDevice

/// The objects of a PipeWire daemon, as far as they tell which process made the camera's node.
struct PipeWireGraph {
    struct Entry {
        let isClient: Bool
        var properties: [String: String] = [:]

        /// The object's serial number.
        ///
        /// Unlike its id, it is never reused.
        var serial: UInt64? { properties["object.serial"].flatMap { UInt64($0) } }
    }

    private static let mostEntries = 1024
    private static let longestText = 512
    /// The properties that are kept; all others are dropped.
    private static let keys: Set = [
        "object.serial", "object.linger", "client.id", "pipewire.sec.uid", "node.name",
        "media.class", "api.libcamera.path", "device.bus-path", "device.serial",
    ]

    private(set) var entries: [UInt32: Entry] = [:]
    private var isOverfull = false
    /// The user of a client outside the system, even a client that has disconnected: it may have
    /// left nodes or links behind.
    private var foreignUser: String?
    /// The user of this process, whose clients are trusted like the system's.
    private let user: UInt32

    init(own user: UInt32) { self.user = user }

    mutating func add(_ id: UInt32, isClient: Bool) {
        guard entries.count < Self.mostEntries else {
            isOverfull = true
            return
        }
        entries[id] = Entry(isClient: isClient)
    }

    /// Records a property of a client or node.
    ///
    /// Only the first value counts: the daemon sets it. A node's own values arrive later. A value
    /// that is too long cannot be a camera's, and is ignored.
    mutating func set(_ key: String, of id: UInt32, to value: String) {
        guard let entry = entries[id], entry.properties[key] == nil, Self.keys.contains(key),
            value.utf8.count <= Self.longestText
        else { return }
        entries[id]?.properties[key] = value
        guard entry.isClient, key == "pipewire.sec.uid" else { return }
        recordClientUser(value)
    }

    mutating func remove(_ id: UInt32) {
        guard let entry = entries.removeValue(forKey: id), entry.isClient else { return }
        if entry.properties["pipewire.sec.uid"] == nil { recordClientUser("?") }
    }

    private mutating func recordClientUser(_ client: String) {
        let isOurs = UInt32(client).map { SystemSocket.isOfSystem($0) || $0 == user } ?? false
        if !isOurs { foreignUser = foreignUser ?? client }
    }

    /// Returns the node of a camera that only the system can feed with pictures.
    ///
    /// A client can make nodes, and links to this stream, that outlive its connection. Therefore no
    /// other person's client may have been connected at any time since this graph was started.
    ///
    /// - Throws: ``CameraFault/disconnected`` without such a node, ``CameraFault/untrusted(_:)``,
    ///   or ``CameraFault/failed(_:)``.
    func camera(_ name: String) throws(CameraFault) -> UInt32 {
        guard !isOverfull else { throw .failed("PipeWire has more objects than can be judged.") }
        let unnamed = entries.values.contains {
            $0.isClient && $0.properties["pipewire.sec.uid"] == nil
        }
        if let who = foreignUser ?? (unnamed ? "?" : nil) {
            throw .untrusted(
                "A program of the user \(who) is connected to PipeWire, and could feed it any "
                    + "picture."
            )
        }
        let found = entries.filter {
            !$0.value.isClient && $0.value.properties["node.name"] == name
        }
        guard let (id, node) = found.first else { throw .disconnected }
        guard found.count == 1 else {
            throw .untrusted("PipeWire has \(found.count) nodes that are called \(name).")
        }
        guard node.properties["media.class"] == "Video/Source" else {
            throw .failed("\(name) of PipeWire is no camera.")
        }
        try checkMaker(of: node, name)
        return id
    }

    /// Refuses a node whose maker is unknown.
    ///
    /// A node can outlive its client, and another client may then get the client's id. A lingering
    /// node does not say which client made it.
    private func checkMaker(of node: Entry, _ name: String) throws(CameraFault) {
        guard ["false", "0", nil].contains(node.properties["object.linger"]) else {
            throw .untrusted("\(name) of PipeWire was made to stay when its maker has left.")
        }
        // Without a client id, the daemon itself made the node.
        guard let maker = node.properties["client.id"] else { return }
        guard let client = UInt32(maker).flatMap({ entries[$0] }), client.isClient,
            let first = client.serial, let second = node.serial, first < second
        else {
            throw .untrusted("\(name) of PipeWire was made by a program that is gone.")
        }
    }
}

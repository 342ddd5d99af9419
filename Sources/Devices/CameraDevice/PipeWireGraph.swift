/// What a PipeWire daemon says that it has, as far as it says who made the camera.
struct PipeWireGraph {
    /// A client or a node.
    struct Entry {
        let isClient: Bool
        var properties: [String: String] = [:]

        /// Numbers of objects are used again, these are not.
        var serial: UInt64? { properties["object.serial"].flatMap { UInt64($0) } }
    }

    private static let mostEntries = 1024
    private static let longestText = 512
    /// What is looked at; nothing else is kept.
    private static let keys: Set = [
        "object.serial", "object.linger", "client.id", "pipewire.sec.uid", "node.name",
        "media.class", "api.libcamera.path", "device.bus-path", "device.serial",
    ]

    private(set) var entries: [UInt32: Entry] = [:]
    private var isOverfull = false
    /// The user of a client that is no part of the system; it may have left something behind.
    private var stranger: String?
    /// The user that this process runs as, whose clients are taken for the system's.
    private let user: UInt32

    init(own user: UInt32) { self.user = user }

    /// A client or a node came.
    mutating func add(_ id: UInt32, isClient: Bool) {
        guard entries.count < Self.mostEntries else {
            isOverfull = true
            return
        }
        entries[id] = Entry(isClient: isClient)
    }

    /// What the daemon says of one of them.
    ///
    /// The first word counts: it is the daemon's, and a node's own of itself comes later. What is
    /// too long is none of a camera's, and left out.
    mutating func set(_ key: String, of id: UInt32, to value: String) {
        guard let entry = entries[id], entry.properties[key] == nil, Self.keys.contains(key),
            value.utf8.count <= Self.longestText
        else { return }
        entries[id]?.properties[key] = value
        guard entry.isClient, key == "pipewire.sec.uid" else { return }
        note(value)
    }

    /// Something went.
    mutating func remove(_ id: UInt32) {
        guard let entry = entries.removeValue(forKey: id), entry.isClient else { return }
        if entry.properties["pipewire.sec.uid"] == nil { note("?") }
    }

    private mutating func note(_ client: String) {
        let isOurs = UInt32(client).map { SystemSocket.isOfSystem($0) || $0 == user } ?? false
        if !isOurs { stranger = stranger ?? client }
    }

    /// The node of a camera, if nobody but the system can decide what it shows.
    ///
    /// Who is connected can make nodes, and links to ours, that stay when it has left. So no person
    /// may have been since this began, beside the user that this process runs as.
    ///
    /// - Throws: ``CameraFault/disconnected`` when there is none.
    func camera(_ name: String) throws(CameraFault) -> UInt32 {
        guard !isOverfull else { throw .failed("PipeWire has more objects than can be judged.") }
        let unnamed = entries.values.contains {
            $0.isClient && $0.properties["pipewire.sec.uid"] == nil
        }
        if let who = stranger ?? (unnamed ? "?" : nil) {
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

    /// A node can outlive the client that made it, whose number then may be another one's; one that
    /// is meant to doesn't say who made it.
    private func checkMaker(of node: Entry, _ name: String) throws(CameraFault) {
        guard ["false", "0", nil].contains(node.properties["object.linger"]) else {
            throw .untrusted("\(name) of PipeWire was made to stay when its maker has left.")
        }
        // The daemon's own.
        guard let maker = node.properties["client.id"] else { return }
        guard let client = UInt32(maker).flatMap({ entries[$0] }), client.isClient,
            let first = client.serial, let second = node.serial, first < second
        else {
            throw .untrusted("\(name) of PipeWire was made by a program that is gone.")
        }
    }
}

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
    private static let mostProperties = 128
    private static let longestText = 512

    private(set) var entries: [UInt32: Entry] = [:]
    private var isOverfull = false

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
        guard let entry = entries[id], entry.properties[key] == nil,
            entry.properties.count < Self.mostProperties,
            key.utf8.count <= Self.longestText, value.utf8.count <= Self.longestText
        else { return }
        entries[id]?.properties[key] = value
    }

    /// Something went.
    mutating func remove(_ id: UInt32) { entries[id] = nil }

    /// The node of a camera, if nobody but the system can decide what it shows.
    ///
    /// Who is connected can make nodes, and link any of them to ours. So no person may be, beside
    /// the user that this process runs as.
    ///
    /// - Throws: ``CameraFault/disconnected`` when there is none.
    func camera(_ name: String, own user: UInt32) throws(CameraFault) -> UInt32 {
        guard !isOverfull else { throw .failed("PipeWire has more objects than can be judged.") }
        for entry in entries.values where entry.isClient {
            let client = entry.properties["pipewire.sec.uid"].flatMap { UInt32($0) }
            guard let client, SystemSocket.isOfSystem(client) || client == user else {
                let who = client.map { "\($0)" } ?? "?"
                throw .untrusted(
                    "A program of the user \(who) is connected to PipeWire, and could feed it any "
                        + "picture."
                )
            }
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

    /// A node can outlive the client that made it, whose number then may be another one's.
    private func checkMaker(of node: Entry, _ name: String) throws(CameraFault) {
        // The daemon's own.
        guard let maker = node.properties["client.id"] else { return }
        guard let client = UInt32(maker).flatMap({ entries[$0] }), client.isClient,
            let first = client.serial, let second = node.serial, first < second
        else {
            throw .untrusted("\(name) of PipeWire was made by a program that is gone.")
        }
    }
}

package import DBus
package import LocalAuthBus

/// The running service: a connection, and the unique name that owns the service's name there.
///
/// Calls go to that name and signals are taken from it, so that a service that was restarted in
/// between is never mistaken for this one.
@BusActor
package struct RemoteService: Sendable {
    package let connection: Connection
    package let owner: String

    package init(_ connection: Connection, owner: String) {
        self.connection = connection
        self.owner = owner
    }

    /// Finds the service on a bus; one that the bus can start is started.
    ///
    /// - Returns: Nil when it is not installed there: nobody owns its name, and the bus can't
    ///   start it.
    /// - Throws: What keeps an installed one from being reached.
    package static func find(on connection: Connection) async throws(DBusError) -> RemoteService? {
        try await ask { () throws(DBusError) in try await look(on: connection) }
    }

    /// Asks something that changes nothing, and once more where there was no room for it, as in a
    /// bus whose queues are full.
    ///
    /// Not for what counts: the service itself may have refused it half way.
    package static func ask<Answer>(
        _ question: @BusActor () async throws(DBusError) -> Answer
    ) async throws(DBusError) -> Answer {
        do throws(DBusError) {
            return try await question()
        } catch {
            guard error.name == .limitsExceeded else { throw error }
            await pause(.milliseconds(200))
            return try await question()
        }
    }

    /// Asks this service something that changes nothing, or the one that has come in its place.
    ///
    /// What is begun by one of them is known to no other: for questions of their own alone.
    private func ask<Answer>(
        _ question: @BusActor (RemoteService) async throws(DBusError) -> Answer
    ) async throws(DBusError) -> Answer {
        do throws(DBusError) {
            return try await Self.ask { () throws(DBusError) in try await question(self) }
        } catch {
            guard Self.departures.contains(error.name),
                let next = try await Self.find(on: connection), next.owner != owner
            else { throw error }
            return try await Self.ask { () throws(DBusError) in try await question(next) }
        }
    }

    /// What a bus says of a call to a process that is gone, or goes before it has answered.
    private static let departures: Set<DBusError.Name> = [
        .serviceUnknown, .nameHasNoOwner, .noReply,
    ]

    private static func look(on connection: Connection) async throws(DBusError) -> RemoteService? {
        if let owner = try await connection.nameOwner(Authentication1.busName) {
            return RemoteService(connection, owner: owner)
        }
        let startable = try await connection.listActivatableNames()
        guard startable.contains(Authentication1.busName) else { return nil }
        // The first call starts it.
        _ = try await connection.call(
            to: Authentication1.busName,
            path: Authentication1.path,
            interface: "org.freedesktop.DBus.Peer",
            member: "Ping"
        )
        guard let owner = try await connection.nameOwner(Authentication1.busName) else {
            throw DBusError(.nameHasNoOwner, "The service ended at once.")
        }
        return RemoteService(connection, owner: owner)
    }

    package var manager: Authentication1Proxy {
        Authentication1Proxy(connection, destination: owner, path: Authentication1.path)
    }

    package var keychain: Keychain1Proxy {
        Keychain1Proxy(connection, destination: owner, path: Keychain1.path)
    }

    package func context(at path: ObjectPath) -> Context1Proxy {
        Context1Proxy(connection, destination: owner, path: path)
    }

    package func device(at path: ObjectPath) -> Device1Proxy {
        Device1Proxy(connection, destination: owner, path: path)
    }

    /// The items that a query finds: it changes nothing, and asks nobody.
    package func search(_ query: [String: Variant]) async throws(DBusError) -> [[String: Variant]] {
        try await ask { service throws(DBusError) in
            try await service.keychain.search(query: query, options: [:])
        }
    }

    /// What the service finds of its installation.
    package func diagnose() async throws(DBusError) -> [[String: Variant]] {
        try await ask { service throws(DBusError) in try await service.manager.diagnose() }
    }

    /// Every sensor, by name.
    package func sensors() async throws(DBusError) -> [RemoteSensor] {
        let reply = try await ask { service throws(DBusError) in
            try await service.connection.call(
                to: service.owner,
                path: Authentication1.path,
                interface: "org.freedesktop.DBus.ObjectManager",
                member: "GetManagedObjects"
            )
        }
        let objects = try reply.read("a{oa{sa{sv}}}") { reader throws(DBusError) in
            try reader.read([ObjectPath: [String: [String: Variant]]].self)
        }
        return objects.compactMap { RemoteSensor($0, $1) }.sorted { $0.name < $1.name }
    }
}

/// A sensor as the service describes it.
package struct RemoteSensor: Hashable, Sendable {
    package let path: ObjectPath
    package var name: String
    package var description: String
    package let biometryType: UInt32
    package var strength: String
    package let isAvailable: Bool
    /// Why it can't be used; empty when it can.
    package var unavailability: String
    /// How many stages an enrolment has; -1 when nobody knows before.
    package let enrollStages: Int32
    /// What a person is asked to do, in the sensor's own words, by language; empty: it has none.
    package let instructions: [String: String]

    /// A sensor by the interfaces of its object; nil for another object.
    package init?(_ path: ObjectPath, _ interfaces: [String: [String: Variant]]) {
        guard let properties = interfaces[Device1.interface] else { return nil }
        self.path = path
        name = properties["Name"]?.asString ?? ""
        description = properties["Description"]?.asString ?? ""
        biometryType = properties["BiometryType"]?.asUInt32 ?? 0
        strength = properties["Strength"]?.asString ?? ""
        isAvailable = properties["Available"]?.asBool ?? false
        unavailability = properties["Unavailability"]?.asString ?? ""
        enrollStages = properties["EnrollStages"]?.asInt32 ?? -1
        instructions = properties["Instructions"]?.asTexts ?? [:]
    }
}

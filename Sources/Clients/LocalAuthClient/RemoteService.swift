package import DBus
package import LocalAuthBus

/// A running service: a connection, and the unique name that owns the service's bus name.
///
/// Calls and signal matches use the unique name, so a restarted service is never mistaken for this
/// process.
@BusActor
package struct RemoteService: Sendable {
    package let connection: Connection
    package let owner: String

    package init(_ connection: Connection, owner: String) {
        self.connection = connection
        self.owner = owner
    }

    /// Finds the service on a bus, and starts it if the bus can.
    ///
    /// - Returns: Nil if the service is not installed: its name has no owner and is not
    ///   activatable.
    /// - Throws: The reason why an installed service is unreachable.
    package static func find(on connection: Connection) async throws(DBusError) -> RemoteService? {
        try await retryingReadOnly { () throws(DBusError) in try await look(on: connection) }
    }

    /// Makes a read-only call, and retries it once after `LimitsExceeded`.
    ///
    /// A bus with full queues answers `LimitsExceeded`, and so does the service, perhaps after a
    /// part of the work. Never use this function for calls with effects.
    package static func retryingReadOnly<Answer>(
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

    /// Makes a read-only call, and repeats it on the new owner after a restart of the service.
    ///
    /// State such as contexts doesn't survive a restart, so the call must not depend on any.
    private func retryingReadOnly<Answer>(
        _ question: @BusActor (RemoteService) async throws(DBusError) -> Answer
    ) async throws(DBusError) -> Answer {
        do throws(DBusError) {
            return try await Self.retryingReadOnly { () throws(DBusError) in
                try await question(self)
            }
        } catch {
            guard Self.departures.contains(error.name),
                let next = try await Self.find(on: connection), next.owner != owner
            else { throw error }
            return try await Self.retryingReadOnly { () throws(DBusError) in
                try await question(next)
            }
        }
    }

    /// Bus errors of a call to a process that exited, before or during the call.
    private static let departures: Set<DBusError.Name> = [
        .serviceUnknown, .nameHasNoOwner, .noReply,
    ]

    private static func look(on connection: Connection) async throws(DBusError) -> RemoteService? {
        if let owner = try await connection.nameOwner(Authentication1.busName) {
            return RemoteService(connection, owner: owner)
        }
        let startable = try await connection.listActivatableNames()
        guard startable.contains(Authentication1.busName) else { return nil }
        // The first call activates the service.
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

    /// Lists the items that match a query; shows no prompt.
    package func search(_ query: [String: Variant]) async throws(DBusError) -> [[String: Variant]] {
        try await retryingReadOnly { service throws(DBusError) in
            try await service.keychain.search(query: query, options: [:])
        }
    }

    package func diagnose() async throws(DBusError) -> [[String: Variant]] {
        try await retryingReadOnly { service throws(DBusError) in
            try await service.manager.diagnose()
        }
    }

    /// Lists all sensors, sorted by name.
    package func sensors() async throws(DBusError) -> [RemoteSensor] {
        let reply = try await retryingReadOnly { service throws(DBusError) in
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

package struct RemoteSensor: Hashable, Sendable {
    package let path: ObjectPath
    package var name: String
    package var description: String
    package let biometryType: UInt32
    package var strength: String
    package let isAvailable: Bool
    /// The reason why the sensor can't be used; empty if available.
    package var unavailability: String
    /// The number of stages of an enrolment; -1 if not known in advance.
    package let enrollStages: Int32
    /// The sensor's own instructions for the user, by language; empty if it has none.
    package let instructions: [String: String]

    /// Creates a sensor from the interfaces of an object; nil if the object isn't a sensor.
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

public import DBus
import LocalAuthBus
import ServiceProgram

/// The sensors of one process: each has a bus name and a connection of its own, because all of
/// them have their object at the same path.
@BusActor public final class SensorRoster {
    private struct Entry {
        let host: SensorHost
        let object: SensorObject
        let daemon: DaemonCaller
    }

    private let address: Connection.Address
    private let note: @BusActor (String) -> Void
    private var spare: Connection?
    private var entries: [Entry] = []

    /// What its sensors could not do is passed to `note`, one sentence each.
    init(
        _ first: Connection,
        at address: Connection.Address,
        note: @escaping @BusActor (String) -> Void
    ) {
        spare = first
        self.address = address
        self.note = note
    }

    /// Serves the sensor that `make` returns, from now until the process ends.
    ///
    /// Connecting blocks for one round trip to the bus.
    ///
    /// - Throws: what `make` throws, `UsageError` for a name that is none, or `Failed` for one
    ///   that is taken.
    public func add(
        _ make: @BusActor (SensorHost) async throws -> any Sensor
    ) async throws {
        let connection: Connection
        if let spare {
            connection = spare
        } else {
            connection = try Connection(address)
        }
        spare = nil
        let host = SensorHost(connection)
        let sensor = try await make(host)
        guard SensorProgram.isName(sensor.name) else {
            throw UsageError("'\(sensor.name)' is no name of a sensor")
        }
        let daemon = DaemonCaller(on: connection)
        let (name, note) = (sensor.name, note)
        let notes = FaultNotes { note("\(name): \($0)") }
        let object = SensorObject(sensor, host: host, daemon: daemon, notes: notes)
        try host.serve(sensor, object)
        entries.append(Entry(host: host, object: object, daemon: daemon))
    }

    /// Whether the process may end until it is needed.
    ///
    /// The bus knows how to start the first name alone: with the others, their sensors would go.
    private var mayEnd: Bool {
        entries.count == 1
            && entries.allSatisfy { !$0.host.connection.isAnswering && $0.object.mayEnd }
    }

    private var served: UInt64 { entries.reduce(0) { $0 + $1.host.connection.served } }

    /// When it needs no process.
    var idleness: Idleness {
        Idleness(
            served: { self.served },
            mayEnd: { self.mayEnd },
            leave: {
                for entry in self.entries { entry.object.close() }
                await self.leave()
            }
        )
    }

    /// Ends the operations of all sensors, and releases their names.
    func stop() async {
        let stopping = entries.map { entry in onLoop { await entry.object.stop() } }
        for task in stopping { await task.value }
        await leave()
    }

    private func leave() async {
        let leaving = entries.map { entry in onLoop { await entry.host.leave(entry.daemon) } }
        for task in leaving { await task.value }
    }
}

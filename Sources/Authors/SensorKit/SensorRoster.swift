public import DBus
import LocalAuthBus
import ServiceProgram

/// The sensors of a process.
///
/// Each sensor has its own bus name and connection, because all sensors use the same object path.
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

    /// Passes each fault of a sensor to `note` as a sentence.
    init(
        _ first: Connection,
        at address: Connection.Address,
        note: @escaping @BusActor (String) -> Void
    ) {
        spare = first
        self.address = address
        self.note = note
    }

    /// Serves the sensor that `make` returns until the process exits.
    ///
    /// Connecting blocks for one round trip to the bus.
    ///
    /// - Throws: The error of `make`, `UsageError` for an invalid name, or `Failed` for a taken
    ///   name.
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
        let faultLog = FaultLog { note("\(name): \($0)") }
        let object = SensorObject(sensor, host: host, daemon: daemon, faultLog: faultLog)
        try host.serve(sensor, object)
        entries.append(Entry(host: host, object: object, daemon: daemon))
    }

    /// Whether the process can exit until the bus starts it again.
    ///
    /// The bus can activate only the first name; further sensors would disappear.
    private var mayEnd: Bool {
        entries.count == 1
            && entries.allSatisfy { !$0.host.connection.isAnswering && $0.object.mayEnd }
    }

    private var served: UInt64 { entries.reduce(0) { $0 + $1.host.connection.served } }

    /// The conditions under which the process can exit.
    var idleness: Idleness {
        Idleness(
            served: { self.served },
            mayEnd: { self.mayEnd },
            releaseNames: {
                for entry in self.entries { entry.object.close() }
                await self.leave()
            }
        )
    }

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

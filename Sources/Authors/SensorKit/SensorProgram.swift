import DBus
public import ServiceProgram

/// The process of a sensor.
///
/// `main.swift` needs little more than `SensorProgram(name: "doorbell", abstract: "…").main { host,
/// _ in Doorbell(host) }`.
public struct SensorProgram: Sendable {
    private let program: ServiceProgram

    public init(name: String, abstract: String, options: [ProgramOption] = []) {
        program = ServiceProgram(name: name, abstract: abstract, options: options + [.idleTimeout])
    }

    /// Runs the sensor that `make` returns; an error prints one line and exits with status 1.
    public func main(
        _ make:
            @escaping @BusActor @Sendable (SensorHost, ProgramArguments) async throws ->
            any Sensor
    ) -> Never {
        serve { roster, arguments in
            try await roster.add { host in try await make(host, arguments) }
        }
    }

    /// Runs the sensors that `start` adds, at once or later; an error prints one line and exits
    /// with status 1.
    public func serve(
        _ start:
            @escaping @BusActor @Sendable (SensorRoster, ProgramArguments) async throws -> Void
    ) -> Never {
        program.main { connection, arguments in
            let roster = SensorRoster(connection, at: arguments.bus) { log(.warning, $0) }
            try await start(roster, arguments)
            return RunningService(idleness: roster.idleness, stop: { await roster.stop() })
        }
    }

    /// Whether a name is a valid last element of a sensor's bus name.
    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 64 else { return false }
        let isDigit = { (byte: UInt8) in byte >= 0x30 && byte <= 0x39 }
        let isLetter = { (byte: UInt8) in
            (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a) || byte == 0x5f
        }
        return !isDigit(first) && name.utf8.allSatisfy { isDigit($0) || isLetter($0) }
    }
}

import BusBench
import DBus
import Glibc
import LocalAuthBus
import SensorContract

/// Options that say how to touch and unplug the sensor.
struct Touching: Sendable {
    let present: String?
    let plug: String?
    let canMiss: Bool
    let patience: Duration
}

struct Subject: Sendable {
    let name: String
    let description: String
    let fixture: SensorFixture

    private static let namespace = "org.localauth.Sensor1."

    /// Starts the sensor once, to learn its name and how it is touched.
    ///
    /// - Throws: When no sensor appears.
    @BusActor init(_ words: [String], _ touching: Touching) async throws {
        let words = [try Self.program(words[0])] + words.dropFirst()
        let bus = try PrivateBus()
        do {
            let connection = try bus.connect()
            let program = try SensorBench.start(words, on: bus, hasStream: true)
            let found = EventRecorder<(name: String, owner: String)>()
            let watch = connection.watchNames(under: "org.localauth.Sensor1") { name, owner in
                if let owner, name.hasPrefix(Self.namespace) { found.record((name, owner)) }
            }
            defer { watch.cancel() }
            let sensor = try await Self.first(of: found, program)
            name = String(sensor.name.dropFirst(Self.namespace.count))
            let proxy = SensorBench.proxy(connection, sensor.owner)
            description = try await proxy.description()
            let simulated = SimulatedSensor1Proxy(
                connection,
                destination: sensor.owner,
                path: Sensor1.path
            )
            let isSimulated = (try? await simulated.pending()) != nil
            var described = Self.fixture(words, name, touching, isSimulated: isSimulated)
            described.promptness = touching.patience
            described.patience = max(described.patience, touching.patience)
            fixture = described
        } catch {
            await bus.end()
            throw error
        }
        await bus.end()
    }

    @BusActor private static func first(
        of found: EventRecorder<(name: String, owner: String)>,
        _ program: ChildProcess
    ) async throws -> (name: String, owner: String) {
        do {
            return try await found.first("a name", within: .seconds(20)) { _ in true }
        } catch {
            let said = program.errors
            let end = program.isRunning ? "runs" : "has ended"
            throw TestFailure(
                "no name below org.localauth.Sensor1 within 20 s; the program \(end)"
                    + (said.isEmpty ? " and printed no error" : " and printed: \(said)")
            )
        }
    }

    /// Finds a program's file, in PATH or else beside this program.
    static func program(_ word: String) throws -> String {
        guard !word.contains("/") else { return word }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let folders = path.split(separator: ":").map(String.init) + [ChildProcess.folder]
        let files = folders.map { "\($0)/\(word)" }
        guard let file = files.first(where: { access($0, X_OK) == 0 }) else {
            throw TestFailure("there is no program \(word)")
        }
        return file
    }

    private static func fixture(
        _ words: [String],
        _ name: String,
        _ touching: Touching,
        isSimulated: Bool
    ) -> SensorFixture {
        let plugging = touching.plug.map { command in
            { @BusActor @Sendable (isIn: Bool, _: SensorBench) async throws in
                try await shell(command, isIn ? "in" : "out")
            }
        }
        if let command = touching.present {
            return SensorFixture(
                program: words,
                name: name,
                canMiss: touching.canMiss,
                keepsTemplates: !isSimulated,
                touchesByBus: false,
                plug: plugging
            ) { isMatching, _ in
                try? await shell(command, isMatching ? "match" : "no-match")
            }
        }
        if isSimulated {
            return SensorFixture(
                program: words,
                name: name,
                canMiss: touching.canMiss,
                keepsTemplates: false,
                plug: plugging ?? { @BusActor isIn, bench in
                    try await control(bench).setPresent(present: isIn)
                }
            ) { isMatching, bench in
                try? await control(bench).touch(matching: isMatching)
            }
        }
        return SensorFixture(
            program: words,
            name: name,
            canMiss: touching.canMiss,
            hasStream: true,
            plug: plugging ?? { @BusActor isIn, bench in
                bench.program.tell(isIn ? "plug" : "unplug")
                await bench.settle()
            }
        ) { isMatching, bench in
            bench.program.tell(isMatching ? "match" : "no-match")
            await bench.settle()
        }
    }

    @BusActor private static func control(_ bench: SensorBench) -> SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(bench.daemon, destination: bench.owner, path: Sensor1.path)
    }

    @BusActor private static func shell(_ command: String, _ word: String) async throws {
        let program = try ChildProcess(["/bin/sh", "-c", command, "sh", word])
        let status = try await program.exitStatus(within: .seconds(30))
        try expect(status == 0, "“\(command)” to end with 0, got \(status): \(program.errors)")
    }
}

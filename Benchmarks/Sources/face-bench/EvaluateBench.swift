import BenchSupport
import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// Imported by hand, because Swift imports no variadic functions.
///
/// All arguments are numbers.
@_silgen_name("prctl")
private func prctl(_ option: Int32, _ argument: UInt) -> Int32

/// Evaluate by face over the bus: the real daemon and sensor, and clips for its camera.
@BusActor
final class EvaluateBench {
    private let limit = Duration.seconds(20)
    private static let name = "org.localauth.Sensor1.Face"

    private let bus: PrivateBus
    private let desk: Desk
    private let device: Device1Proxy
    /// The file that the sensor replays; tests replace it.
    private let clip: String

    /// Starts the programs.
    ///
    /// - Parameters:
    ///   - folder: Models and clips.
    ///   - programs: The daemon and the sensor.
    /// - Throws: Any error of a program's start.
    init(folder: String, programs: String) async throws {
        bus = try PrivateBus(limits: PrivateBus.wideLimits)
        desk = try Desk(on: bus, programs: programs)
        desk.agent.will(.type(ScriptedVerifier.passcode))
        device = try await desk.startDaemon().device("Face", on: desk.agent.connection)
        clip = bus.folder + "/clip.mjpeg"
        try show(folder + "/clips/enroll.mjpeg")
        // Processes that the bus starts are orphans at once. The daemon knows that an orphan ended
        // well when it is reaped, and not every init does that soon. PR_SET_CHILD_SUBREAPER lets
        // this process reap.
        guard prctl(36, 1) == 0 else { throw BenchmarkError("orphans can't be adopted") }
        // The bus starts the sensor, as it does in an installation.
        let words = [
            programs + "/localauth-sensor-face", "--bus", bus.address, "--replay", clip,
            "--models", folder + "/models", "--state-directory", bus.folder + "/face",
        ]
        let service = "[D-BUS Service]\nName=\(Self.name)\nExec=\(words.joined(separator: " "))\n"
        try service.write(
            toFile: "\(bus.folder)/\(Self.name).service",
            atomically: true,
            encoding: .utf8
        )
        try await ask("ReloadConfig", "") { (_) throws(DBusError) in }.read("") { _ in }
    }

    /// Output of the programs, for error messages.
    var log: String { bus.errors }

    func end() async { await bus.end() }

    /// Milliseconds from the call to its answer.
    func measure(_ rounds: Int, of match: String) async throws -> (warm: [Double], cold: [Double]) {
        try await awaken()
        _ = try await device.enroll(label: "me", options: [:])
        try show(match)
        // The first evaluation fills caches of the machine.
        _ = try await evaluate()
        var (warm, cold): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            try await awaken()
            _ = try await evaluate()
            warm.append(try await evaluate())
            try await putToSleep()
            cold.append(try await evaluate())
        }
        return (warm, cold)
    }

    /// The sensor's memory (PSS) after `looks` looks, in kB; a match takes two looks.
    func memory(after looks: Int, of match: String) async throws -> Int {
        try show(match)
        try await awaken()
        for _ in 0..<looks / 2 { _ = try await evaluate() }
        let path = "/proc/\(try await sensorProcess())/smaps_rollup"
        let rollup = try String(contentsOfFile: path, encoding: .utf8)
        let line = rollup.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        let words = line?.split(separator: " ") ?? []
        guard words.count > 1, let memory = Int(words[1]) else {
            throw BenchmarkError("no Pss in \(path)")
        }
        return memory
    }

    private func evaluate() async throws -> Double {
        let start = ContinuousClock.now
        let result = try await desk.manager.evaluate(
            policy: 1,
            reason: "be measured",
            options: [
                "require-confirmation": .bool(false), "timeout": .uint64(30_000),
                "fallback-title": .string(""),
            ]
        )
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        guard result["sensor"]?.asString == "Face" else {
            throw BenchmarkError("Evaluate was answered by \(result)")
        }
        return time
    }

    // MARK: The sensor

    private func show(_ clip: String) throws {
        let bytes = try Data(contentsOf: URL(filePath: clip))
        try bytes.write(to: URL(filePath: self.clip), options: .atomic)
    }

    private func awaken() async throws {
        _ = try await ask("StartServiceByName", "su") { (writer) throws(DBusError) in
            try writer.write(Self.name)
            try writer.write(UInt32(0))
        }
        try await eventually("the face sensor", within: limit) { await self.isAvailable }
    }

    /// Ends the sensor, and waits until the daemon knows that the bus can start it again.
    private func putToSleep() async throws {
        let pid = try await sensorProcess()
        guard kill(pid, SIGTERM) == 0 else { throw BenchmarkError("the sensor can't be ended") }
        try await eventually("the sensor's end", within: limit) {
            waitpid(pid, nil, WNOHANG) != 0
        }
        try await eventually("a sensor that sleeps", within: limit) { await self.isAvailable }
        guard try await desk.agent.connection.nameOwner(Self.name) == nil else {
            throw BenchmarkError("the sensor was started by something else than Evaluate")
        }
    }

    private func sensorProcess() async throws -> pid_t {
        let reply = try await ask("GetConnectionUnixProcessID", "s") { (writer) throws(DBusError) in
            try writer.write(Self.name)
        }
        var pid: UInt32 = 0
        try reply.read("u") { (reader) throws(DBusError) in pid = try reader.read(UInt32.self) }
        guard pid > 1 else { throw BenchmarkError("the sensor has no process") }
        return pid_t(pid)
    }

    private var isAvailable: Bool {
        get async { (try? await device.available()) == true }
    }

    private func ask(
        _ member: String,
        _ signature: String,
        _ arguments: (inout MessageWriter) throws(DBusError) -> Void
    ) async throws(DBusError) -> Message {
        try await desk.agent.connection.call(
            to: "org.freedesktop.DBus",
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus",
            member: member,
            signature: signature,
            arguments
        )
    }
}

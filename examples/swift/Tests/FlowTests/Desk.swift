import DBus
import Foundation
import Linux
import LocalAuthBus

/// A private bus with the daemon, a simulated sensor and a person; programs find it by the
/// environment, as apps find the bus of their session.
@BusActor final class Desk: Passcode1Service {
    static let passcode = "horse battery 2468"
    private static let service = "org.localauth.Authentication1"
    private static let sensorName = "org.localauth.Sensor1.Simulated"

    let folder: String
    let person: Person
    private let address: String
    private let connection: Connection
    private var processes: [Process] = []

    /// Where the programs of the package above are; `LOCALAUTH_PROGRAMS` names another folder.
    private nonisolated static var programs: String {
        ProcessInfo.processInfo.environment["LOCALAUTH_PROGRAMS"]
            ?? URL(filePath: #filePath).appending(path: "../../../../../.build/debug").standardized
            .path
    }

    /// Where the examples are: beside the tests.
    private nonisolated static var examples: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    private init() async throws {
        folder = NSTemporaryDirectory() + "localauth-flow-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        address = "unix:path=\(folder)/bus"
        let bus = Process()
        bus.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
        bus.arguments = ["--session", "--nofork", "--address=\(address)", "--print-address"]
        let said = Pipe()
        bus.standardOutput = said
        try bus.run()
        _ = said.fileHandleForReading.availableData
        connection = try Connection(.address(address))
        person = try Person(Connection(.address(address)))
        processes.append(bus)
    }

    /// Gives a test a desk of its own, and takes it down whatever happens.
    nonisolated static func run(_ body: @Sendable (Desk) async throws -> Void) async throws {
        EventLoop.shared.startThread()
        let desk = try await Desk()
        do {
            try await desk.start()
            try await body(desk)
        } catch {
            await desk.end()
            throw error
        }
        await desk.end()
    }

    private func end() {
        for process in processes.reversed() where process.isRunning {
            kill(process.processIdentifier, SIGKILL)
        }
        connection.close()
        person.leave()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func start() async throws {
        connection.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(self)]
        )
        try connection.requestName("org.localauth.Passcode1")
        try launch("localauthd", ["--state-directory", folder + "/state"])
        try await waitForOwner(of: Self.service)
        try launch("localauth-sensor-simulated", [])
        try await waitForOwner(of: Self.sensorName)
        try await person.register()
        try await enroll("right index")
        while try await canEvaluate() != 0 { await Task.yield() }
    }

    private func launch(_ name: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: Self.programs + "/" + name)
        process.arguments = ["--bus", address] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
    }

    private func waitForOwner(of name: String) async throws {
        let (owners, feed) = AsyncStream.makeStream(of: String?.self)
        let watch = connection.watchName(name) { feed.yield($0) }
        defer { watch.cancel() }
        for await owner in owners where owner != nil { return }
    }

    private func canEvaluate() async throws -> Int32 {
        let root = ObjectPath(trusted: "/org/localauth/Authentication1")
        let manager = Authentication1Proxy(connection, destination: Self.service, path: root)
        return try await manager.canEvaluate(policy: 1).code
    }

    /// Whether the service has a keychain; some flows need one.
    func hasKeychain() async -> Bool {
        let path = ObjectPath(trusted: "/org/localauth/Keychain1")
        let keychain = Keychain1Proxy(connection, destination: Self.service, path: path)
        return (try? await keychain.search(query: [:], options: [:])) != nil
    }

    // MARK: The sensor and the passcode

    private var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            connection,
            destination: Self.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// What the sensor sees next.
    func queue(_ outcomes: String...) async throws {
        try await sensor.queue(outcomes: outcomes)
    }

    /// One more finger.
    func enroll(_ label: String) async throws {
        _ = try await sensor.addTemplate(uid: getuid(), label: label)
    }

    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> { .now(true) }

    func verify(
        uid: UInt32,
        socket: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        var packet = [UInt8](repeating: 0, count: 256)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { throw DBusError(.failed, "no packet came") }
        return .now(Array(packet.prefix(count)) == Array(Self.passcode.utf8))
    }

    // MARK: The examples

    private func example(_ name: String, _ words: [String]) -> Process {
        let process = Process()
        process.executableURL = Self.examples.appending(path: name)
        process.arguments = words
        var environment = ProcessInfo.processInfo.environment
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent"
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        environment["HOME"] = folder
        process.environment = environment
        return process
    }

    /// Starts an example that stays, and returns the line that it says first.
    func serve(_ name: String, _ words: String...) throws -> String {
        let process = example(name, words)
        let said = Pipe()
        process.standardOutput = said
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
        return String(decoding: said.fileHandleForReading.availableData, as: UTF8.self)
    }

    /// Runs an example to its end: what it said, and its status.
    nonisolated func run(
        _ name: String,
        _ words: String...
    ) async throws -> (
        said: String, status: Int32
    ) {
        let process = await example(name, words)
        let said = Pipe()
        process.standardOutput = said
        let (ends, feed) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { feed.yield($0.terminationStatus) }
        try process.run()
        for await status in ends {
            let text = try said.fileHandleForReading.readToEnd() ?? Data()
            return (String(decoding: text, as: UTF8.self), status)
        }
        return ("", -1)
    }
}

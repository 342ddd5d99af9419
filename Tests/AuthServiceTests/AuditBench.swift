import AuthEngine
import AuthService
import AuthStore
import DBus
import Foundation
import KeychainStore
import Linux
import LocalAuthBus
import TestSupport

/// A private journal that receives datagrams and parses them as the journal does.
@BusActor
final class PrivateJournal {
    let path: String
    private let read = EventRecorder<[String: String]>()
    private let socket: OwnedDescriptor
    private var source: EventSource?

    init(path: String) throws {
        self.path = path
        let kind = Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC | O_NONBLOCK
        socket = OwnedDescriptor(adopting: Glibc.socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try expect(status == 0, "a socket at \(path)")
    }

    /// The fields of each record received so far, by name.
    var records: EventRecorder<[String: String]> {
        while let packet = next() { read.record(Self.fields(of: packet)) }
        return read
    }

    /// Reads all datagrams, past and future.
    func listen() {
        source = EventLoop.shared.watch(descriptor: socket.rawValue) { [weak self] in
            _ = self?.records
        }
    }

    /// Returns the next waiting datagram.
    func next() -> [UInt8]? {
        var packet = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        return count > 0 ? Array(packet.prefix(count)) : nil
    }

    func end() {
        source?.cancel()
        unlink(path)
    }

    /// Waits for a record of the kind.
    func record(
        _ kind: String,
        where isSuch: @BusActor ([String: String]) -> Bool = { _ in true }
    ) async throws -> [String: String] {
        try await records.first("the record \(kind)") {
            $0["LOCALAUTH_EVENT"] == kind && isSuch($0)
        }
    }

    /// Parses both forms of the protocol: name, line break and length, or name, `=` and a line.
    nonisolated static func fields(of packet: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        var rest = packet[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            var (name, value) = (line, line[line.endIndex...])
            if let sign = line.firstIndex(of: UInt8(ascii: "=")) {
                (name, value) = (line[..<sign], line[(sign + 1)...])
            } else {
                let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(8)
                value = rest.prefix(length)
                rest = rest.dropFirst(length + 1)
            }
            let key = String(decoding: name, as: UTF8.self)
            let isNew =
                fields.updateValue(String(decoding: value, as: UTF8.self), forKey: key) == nil
            if !isNew { fields["TWICE"] = key }
        }
        return fields
    }
}

/// The service in this process, on a private bus, with a private journal.
@BusActor
final class AuditBench {
    let bus: PrivateBus
    let journal: PrivateJournal
    let client: Connection
    let service: AuthService
    let store: AuthStore
    let verifier: ScriptedVerifier
    private var hasStopped = false

    private init(
        _ bus: PrivateBus,
        _ reread: (@Sendable () throws(ConfigurationError) -> Configuration)?,
        shadowFile: String?,
        deviceRecords: String?
    ) async throws {
        self.bus = bus
        journal = try PrivateJournal(path: bus.folder + "/journal")
        journal.listen()
        verifier = try ScriptedVerifier(on: bus)
        let (store, state) = try AuthStore.open(
            directory: bus.folder + "/state",
            now: Instant.now(),
            bootID: "boot",
            settings: Settings()
        )
        self.store = store
        service = AuthService(
            connection: try bus.connect(),
            store: store,
            state: state,
            configuration: Configuration(),
            keychain: try Keychain(in: bus.folder + "/state", itemLimit: 8),
            shadowFile: shadowFile,
            deviceRecords: deviceRecords,
            rereadConfiguration: reread,
            journal: journal.path
        )
        try await service.start()
        client = try bus.connect()
    }

    nonisolated static func run(
        rereading reread: (@Sendable () throws(ConfigurationError) -> Configuration)? = nil,
        shadowFile: String? = nil,
        deviceRecords: String? = nil,
        _ body: @escaping @BusActor (AuditBench) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let bench = try await AuditBench(
                bus,
                reread,
                shadowFile: shadowFile,
                deviceRecords: deviceRecords
            )
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(bench))
            } catch {
                result = .failure(error)
            }
            await bench.stop()
            bench.journal.end()
            try result.get()
        }
    }

    func stop() async {
        guard !hasStopped else { return }
        hasStopped = true
        await service.stop()
    }

    func manager(_ connection: Connection? = nil) -> Authentication1Proxy {
        Authentication1Proxy(
            connection ?? client,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
    }

    func keychain(_ connection: Connection? = nil) -> KeychainClient {
        KeychainClient(
            proxy: Keychain1Proxy(
                connection ?? client,
                destination: TestDaemon.name,
                path: ObjectPath(trusted: "/org/localauth/Keychain1")
            )
        )
    }

    /// Connects a usable sensor with a template of this user.
    func sensor(for uid: UInt32) async throws -> (ScriptedSensor, template: String) {
        let sensor = ScriptedSensor("Third", on: try bus.connect())
        let template = sensor.add(for: uid, announcing: false)
        try sensor.appear()
        while try await manager().biometryType() == 0 { await Task.yield() }
        return (sensor, template)
    }
}

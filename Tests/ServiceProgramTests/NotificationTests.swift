import DBus
import Glibc
import TestSupport
import Testing

/// What a service tells systemd.
@Suite(.timeLimit(.minutes(1)))
struct NotificationTests {
    init() { EventLoop.shared.startThread() }

    @Test("The loop of a service says that it runs; before it leaves, it says that it stops")
    @BusActor func notices() async throws {
        try await PrivateBus.run { bus in
            let path = bus.folder + "/notify"
            let socket = try Self.listener(at: path)
            defer { close(socket) }
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "2"],
                environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000"]
            )
            #expect(try await program.exitStatus(within: .seconds(30)) == 0, "\(program.errors)")
            let said = Self.packets(socket)
            #expect(said.first == "READY=1")
            // Twice a second, for two seconds at least.
            let times = said.count { $0 == "WATCHDOG=1" }
            #expect(times >= 3, "\(said)")
            #expect(said.contains("STOPPING=1"))
        }
    }

    @Test("Without a watchdog nobody is told that the loop runs")
    @BusActor func noWatchdog() async throws {
        try await PrivateBus.run { bus in
            let path = bus.folder + "/notify"
            let socket = try Self.listener(at: path)
            defer { close(socket) }
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": path]
            )
            #expect(try await program.exitStatus(within: .seconds(30)) == 0, "\(program.errors)")
            #expect(!Self.packets(socket).contains("WATCHDOG=1"))
        }
    }

    private static func listener(at path: String) throws -> Int32 {
        let kind = Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC | O_NONBLOCK
        let listener = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try expect(status == 0, "a socket at \(path)")
        return listener
    }

    /// All that was sent, in order.
    private static func packets(_ socket: Int32) -> [String] {
        var packets: [String] = []
        var packet = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(socket, &packet, packet.count, 0), count > 0 {
            packets.append(String(decoding: packet.prefix(count), as: UTF8.self))
        }
        return packets
    }
}

import DBus
import TestSupport
import Testing

/// What a service tells systemd.
@Suite(.timeLimit(.minutes(10)))
struct NotificationTests {
    init() { EventLoop.shared.startThread() }

    @Test("The loop of a service says that it runs; before it leaves, it says that it stops")
    @BusActor func notices() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "2"],
                environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1000000"]
            )
            #expect(try await program.exitStatus(within: .seconds(30)) == 0, "\(program.errors)")
            let said = systemd.packets()
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
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": systemd.path]
            )
            #expect(try await program.exitStatus(within: .seconds(30)) == 0, "\(program.errors)")
            #expect(!systemd.packets().contains("WATCHDOG=1"))
        }
    }
}

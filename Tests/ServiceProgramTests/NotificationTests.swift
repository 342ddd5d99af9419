import DBus
import Glibc
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
                ["localauth-sensor-simulated", "--bus", bus.address],
                environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1000000"]
            )
            var said: [String] = []
            // However late a busy machine lets it run, it says so again and again.
            try await eventually("three times that it runs") {
                said += systemd.packets()
                return said.count { $0 == "WATCHDOG=1" } >= 3
            }
            #expect(said.first == "READY=1" && !said.contains("STOPPING=1"), "\(said)")
            program.signal(SIGTERM)
            #expect(try await program.exitStatus(within: .seconds(120)) == 0, "\(program.errors)")
            #expect(systemd.packets().contains("STOPPING=1"))
        }
    }

    @Test("In the time that systemd allows the loop says twice that it runs")
    @BusActor func halves() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            // It ends before that time is over, by the clock that it says so by.
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1500000"]
            )
            #expect(try await program.exitStatus() == 0, "\(program.errors)")
            let said = systemd.packets().prefix { $0 != "STOPPING=1" }
            #expect(said.count { $0 == "WATCHDOG=1" } >= 2, "\(said)")
        }
    }

    @Test("Without a watchdog nobody is told that the loop runs")
    @BusActor func noWatchdog() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            // A service that leaves waits until the daemon knows, and so for what is noted here.
            let daemon = try bus.connect()
            try daemon.requestName("org.localauth.Authentication1")
            let said = Witness<[String]>()
            let watch = daemon.watchName("org.localauth.Sensor1.Simulated") { owner in
                if owner == nil { said.record(systemd.packets()) }
            }
            defer { watch.cancel() }
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": systemd.path]
            )
            #expect(try await program.exitStatus(within: .seconds(120)) == 0, "\(program.errors)")
            _ = try await said.first("its end") { $0.contains("READY=1") }
            // From this notice on systemd starts whoever is called anew.
            #expect(said.seen.joined().contains("STOPPING=1"), "\(said.seen)")
            let all = said.seen.joined() + systemd.packets()
            #expect(!all.contains("WATCHDOG=1"), "\(all)")
        }
    }
}

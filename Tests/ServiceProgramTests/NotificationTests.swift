import DBus
import Glibc
import TestSupport
import Testing

/// Tests of notifications to systemd.
@Suite(.timeLimit(.minutes(10)))
struct NotificationTests {
    init() { EventLoop.shared.startThread() }

    @Test("The loop feeds the watchdog, and the service announces its stop before it leaves")
    @BusActor func notices() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address],
                environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1000000"]
            )
            var said: [String] = []
            // The service repeats the notice, however late a busy machine runs it.
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

    @Test("The loop feeds the watchdog twice per interval")
    @BusActor func halves() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            // With this idle time the program exits before a full interval is over.
            let program = try bus.run(
                ["localauth-sensor-simulated", "--bus", bus.address, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1500000"]
            )
            #expect(try await program.exitStatus() == 0, "\(program.errors)")
            let said = systemd.packets().prefix { $0 != "STOPPING=1" }
            #expect(said.count { $0 == "WATCHDOG=1" } >= 2, "\(said)")
        }
    }

    @Test("Without a watchdog the loop sends no notices")
    @BusActor func noWatchdog() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            // A leaving service waits for the daemon, and with it for the record made here.
            let daemon = try bus.connect()
            try daemon.requestName("org.localauth.Authentication1")
            let said = EventRecorder<[String]>()
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
            // After STOPPING=1, systemd starts a new process for further calls.
            #expect(said.seen.joined().contains("STOPPING=1"), "\(said.seen)")
            let all = said.seen.joined() + systemd.packets()
            #expect(!all.contains("WATCHDOG=1"), "\(all)")
        }
    }
}

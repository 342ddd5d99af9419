import DBus
import Glibc
import TestSupport
import Testing

/// A service program as a real process.
@Suite(.timeLimit(.minutes(10)))
struct ServiceProcessTests {
    private static let program = "localauth-sensor-simulated"
    private static let name = "org.localauth.Sensor1.Simulated"

    @Test(
        "Help and version end with status 0 and say something",
        arguments: ["--help", "--version"]
    )
    func texts(_ flag: String) async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start([Self.program, flag])
            try expect(try await program.exitStatus() == 0, "status 0")
            #expect(program.output.contains(Self.program))
        }
    }

    @Test("A usage error is one line and a hint, and status 64")
    func usage() async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start([Self.program, "--no-such-option"])
            try expect(try await program.exitStatus() == 64, "status 64")
            #expect(program.errors.split(separator: "\n").count == 2)
        }
    }

    @Test("Without a bus it ends with status 1 and one line")
    func noBus() async throws {
        try await PrivateBus.run { bus in
            let program = try bus.run([Self.program, "--bus", "unix:path=/nowhere"])
            try expect(try await program.exitStatus() == 1, "status 1")
            #expect(program.errors.split(separator: "\n").count == 1)
        }
    }

    @Test("When the bus is lost it says so and ends with status 1")
    func lostBus() async throws {
        let bus = try PrivateBus()
        let program = try ChildProcess([Self.program, "--bus", bus.address])
        _ = try await bus.waitForOwner(of: Self.name)
        await bus.end()
        try expect(try await program.exitStatus() == 1, "status 1")
    }

    @Test("Both signals end it with status 0", arguments: [SIGTERM, SIGINT])
    func signals(_ number: Int32) async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start([Self.program])
            _ = try await bus.waitForOwner(of: Self.name)
            program.signal(SIGHUP)
            program.signal(number)
            try expect(try await program.exitStatus() == 0, "status 0")
            #expect(program.errors.isEmpty)
        }
    }
}

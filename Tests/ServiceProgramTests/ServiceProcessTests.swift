import DBus
import Glibc
import TestSupport
import Testing

/// Runs a service program as a real process.
@Suite(.timeLimit(.minutes(10)))
struct ServiceProcessTests {
    private static let program = "localauth-sensor-simulated"
    private static let name = "org.localauth.Sensor1.Simulated"

    @Test(
        "Help and version exit with status 0 and print text",
        arguments: ["--help", "--version"]
    )
    func texts(_ flag: String) async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start([Self.program, flag])
            try expect(try await program.exitStatus() == 0, "status 0")
            #expect(program.output.contains(Self.program))
        }
    }

    @Test("A usage error prints one line and a hint, and exits with status 64")
    func usage() async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start([Self.program, "--no-such-option"])
            try expect(try await program.exitStatus() == 64, "status 64")
            #expect(program.errors.split(separator: "\n").count == 2)
        }
    }

    @Test("Without a bus the program prints one line and exits with status 1")
    func noBus() async throws {
        try await PrivateBus.run { bus in
            let program = try bus.run([Self.program, "--bus", "unix:path=/nowhere"])
            try expect(try await program.exitStatus() == 1, "status 1")
            #expect(program.errors.split(separator: "\n").count == 1)
        }
    }

    @Test("A log line starts with its priority for the journal, with the program's name elsewhere")
    func priority() throws {
        let words = [ChildProcess.folder + "/" + Self.program, "--bus", "unix:path=/nowhere"]
        let script = "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec \"$@\""
        let journal = try ChildProcess.run(["/bin/sh", "-c", script, "sh"] + words)
        #expect(journal.errors.hasPrefix("<3>can't start: "), "\(journal.errors)")
        // Imitate a variable inherited from a parent with another standard error.
        let other = try ChildProcess.run(words, environment: ["JOURNAL_STREAM": "1:1"])
        #expect(other.errors.hasPrefix("\(Self.program): can't start: "), "\(other.errors)")
    }

    @Test("When the bus is lost the program says so and exits with status 1")
    func lostBus() async throws {
        let bus = try PrivateBus()
        let program = try ChildProcess([Self.program, "--bus", bus.address])
        _ = try await bus.waitForOwner(of: Self.name)
        await bus.end()
        try expect(try await program.exitStatus() == 1, "status 1")
    }

    @Test("A stalled bus does not hold up the exit")
    func stillBus() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            let program = try bus.start(
                [Self.program],
                environment: ["NOTIFY_SOCKET": systemd.path]
            )
            try await eventually("it to be ready") { systemd.packets().contains("READY=1") }
            kill(bus.pid, SIGSTOP)
            defer { kill(bus.pid, SIGCONT) }
            program.signal(SIGTERM)
            // Each call to the bus would take 25 s, and there are more than ten.
            #expect(try await program.exitStatus() == 0)
            let line = "\(Self.program): stopped before everything was done: "
            #expect(program.errors.hasPrefix(line), "\(program.errors)")
            #expect(program.errors.hasSuffix("\n"))
        }
    }

    @Test("A used service stays for its idle time after the last call")
    func inUse() async throws {
        try await PrivateBus.run { bus in
            let systemd = try NotifySocket(at: bus.folder + "/notify")
            let program = try bus.start(
                [Self.program, "--idle-timeout", "1"],
                environment: ["NOTIFY_SOCKET": systemd.path]
            )
            let owner = try #require(try await bus.waitForOwner(of: Self.name))
            let client = try bus.connect()
            let began = ContinuousClock.now
            var last: ContinuousClock.Instant?
            while ContinuousClock.now - began < .milliseconds(2500) {
                let asked = ContinuousClock.now
                let answer = try? await client.property(
                    "Pending",
                    of: "org.localauth.SimulatedSensor1",
                    at: ObjectPath(trusted: "/org/localauth/Sensor1"),
                    on: owner,
                    as: [String].self
                )
                // A leaving service also answers.
                guard answer != nil, !systemd.packets().contains("STOPPING=1") else { break }
                last = asked
            }
            #expect(try await program.exitStatus() == 0)
            // A test that was not scheduled cannot judge the exit.
            if let last { #expect(ContinuousClock.now - last >= .seconds(1)) }
        }
    }

    @Test("Both signals end the program with status 0", arguments: [SIGTERM, SIGINT])
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

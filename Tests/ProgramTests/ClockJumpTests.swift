import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Counters and deadlines use the boot clock, so the wall clock may jump.
@Suite("Clocks that jump", .timeLimit(.minutes(10)))
struct ClockJumpTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    private static let jumps = [Faults.year, -Faults.year]

    @Test(
        "L10, L17: A jump of the wall clock neither ends nor starts a lockout or a delay",
        arguments: getenv("LA_NIGHTLY") == nil ? [CrashBench.Checks.scripted] : [.scripted, .real]
    )
    @BusActor
    func wall(_ checks: CrashBench.Checks) async throws {
        let faults = try Faults()
        try await CrashBench.run(["daemon": faults], checks) { bench in
            for jump in Self.jumps {
                try await bench.letIn()
                let state = try await bench.domainState()
                faults.setClocks(wall: jump)
                #expect(abs(try await bench.calendarAhead() - jump) < 3600, "it jumps")
                try await bench.letIn("with nothing counted, \(jump) s")
                #expect(try await bench.domainState() == state)
                faults.setClocks()
                try await bench.lock()
                for restarts in [false, true] {
                    faults.setClocks(wall: jump)
                    if restarts { try await bench.restartDaemon() }
                    #expect(try await bench.manager.canEvaluate(policy: 1).code == -8, "\(jump) s")
                    #expect(await bench.evaluate(2, CrashBench.passcodeAlone) == Self.failed)
                }
                // The delay ends on the boot clock, which counts.
                faults.setClocks(wall: -jump, boot: 3600)
                try await bench.letIn("after the delay, \(-jump) s")
                faults.setClocks()
                try await bench.restartDaemon()
            }
        }
    }

    @Test("L17: A jump of the wall clock during a prompt ends no evaluation and forgets no miss")
    @BusActor
    func prompt() async throws {
        let faults = try Faults()
        try await CrashBench.run(["daemon": faults]) { bench in
            for jump in Self.jumps {
                let call = try await bench.evaluation()
                for await event in call.events where event.kind == "sensor-ready" { break }
                faults.setClocks(wall: jump)
                try await bench.sensor("One").touch(matching: false)
                for await event in call.events where event.kind == "no-match" { break }
                #expect(try bench.recordOfRunningDaemon().misses == 1, "\(jump) s")
                try await bench.sensor("One").touch(matching: true)
                #expect(try await call.reply()["mechanism"] == .string("biometry"))
                faults.setClocks()
            }
        }
    }

    private static let failed = "org.localauth.Error.AuthenticationFailed"

    @Test("R33: A context's proof expires after SuccessMinutes on the boot clock alone")
    @BusActor
    func windows() async throws {
        let faults = try Faults()
        try await CrashBench.run(["daemon": faults]) { bench in
            try await bench.letIn()
            let path = try await bench.manager.createContext(
                properties: ["SuccessDuration": .double(3600)]
            )
            let owner = try #require(try await bench.connection.nameOwner(TestDaemon.name))
            let context = Context1Proxy(bench.connection, destination: owner, path: path)
            try await bench.sensor("One").queue(outcomes: ["match"])
            let options: [String: Variant] = ["sensors": .strings(["One"])]
            _ = try await context.evaluate(policy: 1, reason: "test", options: options)
            // SuccessMinutes defaults to 10; the context asks for more.
            let early: [(Int64, Int64)] = [(Faults.year, 0), (-Faults.year, 0), (0, 480)]
            for (wall, boot) in early {
                faults.setClocks(wall: wall, boot: boot)
                let kept = try await context.evaluate(policy: 1, reason: "test", options: options)
                #expect(kept["mechanism"] == .string("context"))
            }
            faults.setClocks(wall: -Faults.year, boot: 601)
            try await bench.sensor("One").queue(outcomes: ["match"])
            let anew = try await context.evaluate(policy: 1, reason: "test", options: options)
            #expect(anew["mechanism"] == .string("biometry"))
        }
    }
}

extension CrashBench {
    /// Locks biometry, and starts a delay for passwords.
    fileprivate func lock() async throws {
        let touches = Array(repeating: false, count: Self.lockout)
        #expect(await evaluate(touching: touches) != nil)
        for _ in 0..<6 {
            mood = .wrongOnce
            #expect(await evaluate(2, Self.passcodeInTime) != nil)
        }
        mood = .watching
    }

    fileprivate func restartDaemon() async throws {
        try await kill("daemon")
        forgetPrompts()
        try await start("daemon")
        try await register()
        try await sensorsAreThere()
    }

    fileprivate func evaluation() async throws -> StreamingCall<[String: Variant]> {
        // Event streams need a unique name.
        let owner = try #require(try await connection.nameOwner(TestDaemon.name))
        return try Authentication1Proxy(connection, destination: owner, path: TestDaemon.root)
            .evaluateStream(policy: 1, reason: "test", options: ["sensors": .strings(["One"])])
    }

    /// Seconds by which the daemon's wall clock is ahead, by the date of an item.
    fileprivate func calendarAhead() async throws -> Int64 {
        let keychain = Keychain1Proxy(
            connection,
            destination: TestDaemon.name,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
        let id = try await keychain.add(
            attributes: ["class": .string("genp"), "acct": .string("me")],
            secret: Array("secret".utf8),
            accessControl: [:],
            options: [:]
        )
        let items = try await keychain.search(query: [:], options: [:])
        _ = try await keychain.delete(ids: [id])
        return try #require(items.first?["cdat"]?.asInt64) - Int64(time(nil))
    }

    fileprivate func domainState() async throws -> [UInt8] {
        let path = try await manager.createContext(properties: [:])
        let owner = try #require(try await connection.nameOwner(TestDaemon.name))
        let context = Context1Proxy(connection, destination: owner, path: path)
        #expect(try await context.canEvaluate(policy: 1).code == 0)
        return try await context.evaluatedPolicyDomainState()
    }
}

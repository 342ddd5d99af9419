import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// fprintd comes and goes.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct EndingTests {
    init() { EventLoop.shared.startThread() }

    @Test("fprintd killed in a scan is started again, and the scan goes on")
    @BusActor func killed() async throws {
        try await ReaderBench.run(isActivated: true) { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            let first = try await reader.daemon()
            kill(first.pid, SIGKILL)
            try await eventually("another fprintd") {
                let next = try? await reader.rig.client.nameOwner("net.reactivated.Fprint")
                return next != nil && next != first.name
            }
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            #expect(!reader.kinds(number).contains("no-match"))
            #expect(try await reader.sensor.present())
        }
    }

    @Test("fprintd that ends in an enrolment leaves no template, and the next one works")
    @BusActor func killedInEnrolment() async throws {
        try await ReaderBench.run(isActivated: true) { reader in
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await reader.bench.event("ready", of: number)
            kill(try await reader.daemon().pid, SIGKILL)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorFailed)
            // A list may still be asked of the one that is gone.
            try await eventually("an empty list") {
                (try? await reader.templates())?.isEmpty == true
            }
            _ = try await reader.enroll()
        }
    }

    @Test("fprintd may end when it is idle, and is started when it is needed")
    @BusActor func idle() async throws {
        try await ReaderBench.run(isActivated: true) { reader in
            let id = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            // It ends 30 s after the last connection of ours that it knows as a client.
            try await eventually("fprintd to end", within: .seconds(120)) {
                try await reader.rig.client.nameOwner("net.reactivated.Fprint") == nil
            }
            // What is known needs no fprintd.
            #expect(try await reader.templates().map(\.id) == [id])
            #expect(try await reader.sensor.present())
            #expect(try await reader.rig.client.nameOwner("net.reactivated.Fprint") == nil)
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("Without fprintd there is a sensor that is away and says why")
    @BusActor func absent() async throws {
        let rig = try await FingerprintRig(polkit: false)
        let bench = try await SensorBench(try rig.fixture())
        #expect(try await !bench.sensor.present())
        // It serves before it knows, where the bus is slow.
        try await eventually("a health that says so") {
            let health = try await bench.sensor.health()
            return health.state == "failed" && health.message.contains("fprintd")
        }
        await bench.end()
        await rig.end()
    }
}

extension ReaderBench {
    /// Who is fprintd now.
    func daemon() async throws -> Peer {
        let owner = try await rig.client.nameOwner("net.reactivated.Fprint")
        return try await rig.client.peer(named: try #require(owner))
    }
}

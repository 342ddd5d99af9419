import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct EndingTests {
    init() { EventLoop.shared.startThread() }

    @Test("A scan survives the kill of fprintd, which is started again")
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

    @Test("If fprintd dies in an enrolment, no template remains, and the next enrolment works")
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
            // The first list may still be requested from the old fprintd.
            try await eventually("an empty list") {
                (try? await reader.templates())?.isEmpty == true
            }
            _ = try await reader.enroll()
        }
    }

    @Test("fprintd may exit when idle, and is started on demand")
    @BusActor func idle() async throws {
        try await ReaderBench.run(isActivated: true) { reader in
            let id = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            // fprintd exits 30 s after the last of its clients has disconnected.
            try await eventually("fprintd to end", within: .seconds(120)) {
                try await reader.rig.client.nameOwner("net.reactivated.Fprint") == nil
            }
            // Known templates need no fprintd.
            #expect(try await reader.templates().map(\.id) == [id])
            #expect(try await reader.sensor.present())
            #expect(try await reader.rig.client.nameOwner("net.reactivated.Fprint") == nil)
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("Without fprintd the sensor is absent and says why")
    @BusActor func absent() async throws {
        let rig = try await FingerprintRig(polkit: false)
        let bench = try await SensorBench(try rig.fixture())
        #expect(try await !bench.sensor.present())
        // On a slow bus the sensor serves calls before it knows.
        try await eventually("a health that says so") {
            let health = try await bench.sensor.health()
            return health.state == "failed" && health.message.contains("fprintd")
        }
        await bench.end()
        await rig.end()
    }
}

extension ReaderBench {
    func daemon() async throws -> Peer {
        let owner = try await rig.client.nameOwner("net.reactivated.Fprint")
        return try await rig.client.peer(named: try #require(owner))
    }
}

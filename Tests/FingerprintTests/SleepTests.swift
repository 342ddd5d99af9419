import DBus
import FingerprintRig
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests suspend: the sensor must stop before it and release after it, or the reader stays open.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct SleepTests {
    init() { EventLoop.shared.startThread() }

    @Test("A program that releases in suspend wedges the reader")
    @BusActor func wedge() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            let other = try reader.rig.bus.connect()
            try await eventually("another program to get the reader") {
                (try? await reader.rig.device("Claim", "alice", by: other)) != nil
            }
            try await reader.rig.device("VerifyStart", "any", by: other)
            try await reader.suspend()
            _ = try? await reader.rig.device("Release", by: other)
            reader.rig.logind.prepareForSleep(false)
            let call = try reader.sensor.verifyStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                options: [:]
            )
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorFailed)
            #expect(error.message.contains("since a suspend"))
        }
    }

    @Test("L4: a Verify cancelled in suspend frees the reader after resume")
    @BusActor func canceledInSleep() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            try await reader.suspend()
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            #expect(reader.kinds(number) == ["ready"])
            // The reader is still claimed, which avoids the wedge.
            let other = try reader.rig.bus.connect()
            do throws(DBusError) {
                try await reader.rig.device("Claim", "bob", by: other)
                Issue.record("the reader was released in suspend")
            } catch {
                #expect(error.name == "net.reactivated.Fprint.Error.AlreadyInUse")
            }
            reader.rig.logind.prepareForSleep(false)
            try await eventually("another program to get the reader", within: .seconds(60)) {
                (try? await reader.rig.device("Claim", "bob", by: other)) != nil
            }
            try await reader.rig.device("Release", by: other)
            let (_, next) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await next.reply() == id)
        }
    }

    @Test("L4: a Verify continues after suspend")
    @BusActor func goesOn() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (number, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            try await reader.suspend()
            #expect(try await reader.sensor.health().state == "ok")
            reader.rig.logind.prepareForSleep(false)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            #expect(!reader.kinds(number).contains("no-match"))
        }
    }

    @Test("L4: a Verify that begins in suspend scans after resume")
    @BusActor func beginsInSleep() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            try await eventually("the reader to be given back") {
                try await reader.rig.isFree()
            }
            try await reader.suspend()
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: [:]
            )
            _ = try await reader.sensor.health()
            #expect(reader.kinds(number).isEmpty)
            reader.rig.logind.prepareForSleep(false)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }

    /// Returns the signals of sleep and the resulting calls to fprintd, in the order of the bus.
    private static func steps(_ monitor: ChildProcess) -> [String] {
        let steps: Set = ["PrepareForSleep", "VerifyStop", "Release"]
        return monitor.output.split(separator: "\n")
            .compactMap { $0.split(separator: "member=").last.map(String.init) }
            .filter { steps.contains($0) }
    }

    @Test("L4: the sensor stops fprintd before resume and releases the reader only after it")
    @BusActor func order() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.waitForFingerNeeded()
            let monitor = try reader.rig.run(
                ["/usr/bin/dbus-monitor", "--address", reader.rig.address]
            )
            try await eventually("a monitor") { monitor.output.contains("NameLost") }
            try await reader.suspend()
            try await eventually("fprintd to be told to stop") {
                Self.steps(monitor).contains("VerifyStop")
            }
            reader.rig.logind.prepareForSleep(false)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
            try await eventually("the reader to be released") {
                Self.steps(monitor).count >= 4
            }
            let steps = Self.steps(monitor).prefix(4)
            #expect(steps == ["PrepareForSleep", "VerifyStop", "PrepareForSleep", "Release"])
        }
    }

    @Test("L4: the sensor notices the end of sleep without a signal")
    @BusActor func missedWord() async throws { try await Self.expectLook { _ in } }

    @Test("L4: the sensor scans again when logind leaves in suspend")
    @BusActor func lostLogind() async throws {
        try await Self.expectLook { $0.rig.logind.leave() }
    }

    /// Ends suspend with a signal to fprintd alone, and expects the sensor to scan after `happens`.
    @BusActor private static func expectLook(
        after happens: @escaping @BusActor (ReaderBench) -> Void
    ) async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            try await eventually("the reader to be given back") {
                try await reader.rig.isFree()
            }
            try await reader.suspend()
            let call = try reader.sensor.verifyStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                options: [:]
            )
            let client = try reader.rig.bus.connect()
            let fprintd = try #require(try await client.nameOwner("net.reactivated.Fprint"))
            reader.rig.logind.prepareForSleep(false, to: fprintd)
            happens(reader)
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }
}

extension ReaderBench {
    /// Simulates suspend; returns when fprintd has allowed it and the sensor knows.
    func suspend() async throws {
        try expect(rig.logind.isDelayed, "fprintd to delay sleep")
        rig.logind.prepareForSleep(true)
        try await eventually("fprintd to let the machine sleep") { !rig.logind.isDelayed }
        // The signal came on another bus. The sensor has handled it before it answers this call.
        _ = try await sensor.health()
    }
}

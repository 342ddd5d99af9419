import DBus
import FingerprintRig
import LocalAuthBus
import SensorContract
import TestSupport

/// Runs the sensor on a rig; the test acts as the daemon.
@BusActor struct ReaderBench {
    let rig: FingerprintRig
    let bench: SensorBench
    /// All statuses that fprintd broadcasts.
    let overheard = EventRecorder<String>()

    /// Runs `body` on a new rig, which ends afterwards in any case.
    static func run(
        _ kinds: [VirtualReader.Kind] = [.image],
        isActivated: Bool = false,
        with faults: Faults? = nil,
        _ body: @BusActor (ReaderBench) async throws -> Void
    ) async throws {
        let rig = try await FingerprintRig(kinds, isActivated: isActivated)
        do {
            var fixture = try rig.fixture()
            if let faults {
                let program = ["localauth-sensor-fingerprint"]
                fixture.program = rig.words(faults.starting(program, with: "libnss_wrapper.so"))
            }
            let bench = try await SensorBench(fixture)
            do {
                let reader = ReaderBench(rig: rig, bench: bench)
                try await reader.listen()
                try await body(reader)
            } catch {
                let said = bench.program.errors
                await bench.end()
                throw said.isEmpty ? error : TestFailure("\(error); the sensor said: \(said)")
            }
            await bench.end()
        } catch {
            await rig.end()
            throw error
        }
        await rig.end()
    }

    func listen() async throws {
        guard let owner = try await rig.client.nameOwner("net.reactivated.Fprint") else { return }
        for member in ["VerifyStatus", "EnrollStatus"] {
            _ = rig.client.subscribe(
                sender: owner,
                path: nil,
                interface: "net.reactivated.Fprint.Device",
                member: member,
                broadcast: true
            ) { message in
                let word = try? message.read("sb") { reader throws(DBusError) in
                    try reader.read(String.self)
                }
                if let word { self.overheard.record(word) }
            }
        }
    }

    var sensor: Sensor1Proxy { bench.sensor }

    func templates(of user: UInt32 = SensorBench.user) async throws -> [Template] {
        try await sensor.listTemplates(uid: user)
    }

    /// Enrols a finger with as many touches as needed.
    func enroll(
        _ finger: Int = 1,
        label: String = "one",
        user: UInt32 = SensorBench.user,
        image: Fingerprints.Image? = nil
    ) async throws -> String {
        let image = try image ?? Fingerprints.image(finger)
        return try await enroll(label: label, user: user) { self.rig.readers[0].touch(image) }
    }

    /// Enrols a finger, and calls `touch` whenever fprintd needs a finger.
    func enroll(
        label: String = "one",
        user: UInt32 = SensorBench.user,
        touch: @BusActor () -> Void
    ) async throws -> String {
        let call = try sensor.enrollStream(
            operation: bench.nextOperation(),
            uid: user,
            label: label,
            options: [:]
        )
        let ended = EventRecorder<Result<String, DBusError>>()
        onLoop {
            do throws(DBusError) {
                ended.record(.success(try await call.reply()))
            } catch {
                ended.record(.failure(error))
            }
        }
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(120)
        while ended.seen.isEmpty, clock.now < limit {
            if await rig.isFingerNeeded() { touch() }
            await pause(.milliseconds(10))
        }
        return try await ended.first("the enrolment to end") { _ in true }.get()
    }

    func kinds(_ number: UInt64) -> [String] {
        bench.events.seen.filter { $0.operation == number }.map(\.kind)
    }

    func failure(
        of call: StreamingCall<String>
    ) async throws -> (error: DBusError, after: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let answer: String
        do throws(DBusError) {
            answer = try await call.reply()
        } catch {
            return (error, clock.now - start)
        }
        throw TestFailure("expected a fault, got \(answer)")
    }
}

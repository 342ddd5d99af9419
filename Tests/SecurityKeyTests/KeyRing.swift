import DBus
import SensorContract
import TestSupport
import VirtualKey

/// A folder of virtual keys, and a sensor that uses it instead of devices.
@BusActor struct KeyRing {
    let folder: TemporaryFolder
    /// The key that tests touch.
    let key: VirtualKey
    /// The key's events, in order.
    let events = EventRecorder<VirtualKey.Event>()

    init(_ manners: KeyBehaviour = KeyBehaviour()) throws {
        folder = try TemporaryFolder()
        let events = events
        key = try VirtualKey(in: folder.path, manners) { event in
            onLoop { events.record(event) }
        }
    }

    var program: [String] {
        [
            "localauth-sensor-fido2", "--sockets", folder.path, "--state-directory",
            folder.path + "/state",
        ]
    }

    var fixture: SensorFixture {
        let key = key
        return SensorFixture(
            program: program,
            name: "Fido2",
            touchesByBus: false,
            patience: .seconds(60),
            promptness: .seconds(20),
            plug: { isIn, _ in
                if isIn { try key.plug() } else { key.unplug() }
            },
            present: { matching, _ in key.touch(matching ? .right : .forged) }
        )
    }

    func another(
        _ name: String = "two",
        _ manners: KeyBehaviour = KeyBehaviour()
    ) throws -> VirtualKey {
        try VirtualKey(in: folder.path, named: name, manners)
    }

    func check(
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) async throws {
        try await run(SensorCheck("security key", body))
    }

    func run(_ check: SensorCheck, with faults: Faults) async throws {
        var faulty = fixture
        faulty.program = faults.starting(program)
        try await check.run(faulty)
    }

    /// Runs a check while the folder exists.
    func run(_ check: SensorCheck) async throws {
        try await check.run(fixture)
    }
}

import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import SensorKit

/// Tests of property announcements.
@Suite(.timeLimit(.minutes(10)))
struct SensorHostTests {
    init() { EventLoop.shared.startThread() }

    /// A sensor with properties that the test changes.
    private final class ChangingSensor: Sensor {
        let name = "Changing"
        var properties = SensorProperties(
            description: "Changing",
            biometryType: .fingerprint,
            strength: .strong
        )

        func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
            throw .noTemplates
        }

        func enroll(
            _ operation: SensorOperation,
            label: String
        ) async throws(SensorFault) -> String {
            throw .full
        }

        func templates(of user: UInt32) async throws(SensorFault) -> [Template] { [] }

        func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault) {}

        func remove(_ id: String, of user: UInt32) async throws(SensorFault) {}

        func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 { 0 }
    }

    private typealias Change = (name: String, body: @Sendable (inout SensorProperties) -> Void)

    /// A change of each property, by its name on the bus.
    private static let changes: [Change] = [
        ("Description", { $0.description = "Changed" }),
        ("BiometryType", { $0.biometryType = .face }),
        ("Strength", { $0.strength = .weak }),
        ("Present", { $0.isPresent = false }),
        ("Unavailability", { $0.unavailability = .noHardware }),
        ("EnrollStages", { $0.enrollStages = 3 }),
        ("MaxTemplates", { $0.maximumTemplates = 4 }),
        ("Instructions", { $0.instructions = ["en": "Look here"] }),
    ]

    @Test("Only the changed property is announced")
    @BusActor func announced() async throws {
        try await PrivateBus.run { bus in
            let (connection, daemon) = (try bus.connect(), try bus.connect())
            let sensor = ChangingSensor()
            let host = SensorHost(connection)
            let object = SensorObject(
                sensor,
                host: host,
                daemon: DaemonCaller(on: connection),
                faultLog: FaultLog { _ in }
            )
            try host.serve(sensor, object)
            let proxy = Sensor1Proxy(
                daemon,
                destination: connection.uniqueName,
                path: Sensor1.path
            )
            let announced = EventRecorder<[String]>()
            _ = proxy.onPropertiesChanged { values, _ in announced.record(values.keys.sorted()) }
            // After this reply the bus delivers signals.
            _ = try await proxy.protocolVersions()
            for change in Self.changes {
                announced.forget()
                change.body(&sensor.properties)
                host.propertiesChanged()
                let names = try await announced.first(change.name) { _ in true }
                #expect(names == [change.name])
            }
        }
    }
}

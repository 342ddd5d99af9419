import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import SensorKit

/// A driver that notices a cancel too late, and one that fails in the middle.
@Suite(.timeLimit(.minutes(10)))
struct CanceledEnrolmentTests {
    init() { EventLoop.shared.startThread() }

    /// Finishes each enrolment when the test says so, whatever has become of it.
    @BusActor private final class LateSensor: Sensor {
        let name = "Late"
        let properties = SensorProperties(
            description: "Late",
            biometryType: .fingerprint,
            strength: .strong
        )
        let begun = Witness<Bool>()
        private(set) var ids: [String] = []
        private var held: CheckedContinuation<Void, Never>?

        func finish() {
            held?.resume()
            held = nil
        }

        func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
            throw .noTemplates
        }

        func enroll(
            _ operation: SensorOperation,
            label: String
        ) async throws(SensorFault) -> String {
            begun.record(true)
            let id = "template\(begun.seen.count)"
            await withCheckedContinuation { held = $0 }
            ids.append(id)
            return id
        }

        func templates(of user: UInt32) async throws(SensorFault) -> [Template] { [] }

        func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault) {}

        func remove(_ id: String, of user: UInt32) async throws(SensorFault) {
            // As a driver that asks another program, whose call ends with its task.
            guard !Task.isCancelled else { throw .canceled }
            ids.removeAll { $0 == id }
        }

        func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 {
            ids.removeFirst()
            guard ids.isEmpty else { throw .failed("The others can't be removed.") }
            return 1
        }
    }

    @Test("A template that is made although its enrolment was canceled is removed again")
    @BusActor func removed() async throws {
        try await PrivateBus.run { bus in
            let sensor = LateSensor()
            let proxy = try Self.serve(sensor, on: bus)
            let canceled = try proxy.enrollStream(operation: 1, uid: 7, label: "a", options: [:])
            _ = try await sensor.begun.first("the enrolment") { $0 }
            try await proxy.cancel(operation: 1)
            sensor.finish()
            let error = await #expect(throws: DBusError.self) { _ = try await canceled.reply() }
            #expect(error?.name == SensorFault.canceled.error.name)
            #expect(sensor.ids.isEmpty)

            let kept = try proxy.enrollStream(operation: 2, uid: 7, label: "a", options: [:])
            _ = try await sensor.begun.first("the second one") { _ in sensor.begun.seen.count == 2 }
            sensor.finish()
            #expect(try await kept.reply() == "template2")
            #expect(sensor.ids == ["template2"])
        }
    }

    @Test("A removal of all that fails in the middle is told: some are gone")
    @BusActor func half() async throws {
        try await PrivateBus.run { bus in
            let sensor = LateSensor()
            let proxy = try Self.serve(sensor, on: bus)
            for number in 1...2 as ClosedRange<UInt64> {
                let call = try proxy.enrollStream(
                    operation: number,
                    uid: 7,
                    label: "a",
                    options: [:]
                )
                _ = try await sensor.begun.first("the enrolment") { _ in
                    sensor.begun.seen.count == number
                }
                sensor.finish()
                _ = try await call.reply()
            }
            let changes = Witness<UInt32>()
            let watch = proxy.onTemplatesChanged { changes.record($0) }
            defer { watch.cancel() }
            let error = await #expect(throws: DBusError.self) {
                _ = try await proxy.removeAllTemplates(uid: 7)
            }
            #expect(error?.name == .sensorFailed && sensor.ids == ["template2"])
            _ = try await changes.first("TemplatesChanged", within: .seconds(60)) { $0 == 7 }
        }
    }

    /// A proxy by which the daemon calls a driver on a bus of its own.
    @BusActor private static func serve(
        _ sensor: LateSensor,
        on bus: PrivateBus
    ) throws -> Sensor1Proxy {
        let (connection, daemon) = (try bus.connect(), try bus.connect())
        try daemon.requestName(Authentication1.busName)
        let object = SensorObject(
            sensor,
            host: SensorHost(connection),
            daemon: DaemonCaller(on: connection),
            notes: FaultNotes { _ in }
        )
        connection.export(Sensor1.path, [Sensor1Interface(object)])
        return Sensor1Proxy(daemon, destination: connection.uniqueName, path: Sensor1.path)
    }
}

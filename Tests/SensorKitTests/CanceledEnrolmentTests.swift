import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import SensorKit

/// Tests of a driver that notices a cancel too late.
@Suite(.timeLimit(.minutes(10)))
struct CanceledEnrolmentTests {
    init() { EventLoop.shared.startThread() }

    /// Finishes each enrolment when the test says so, canceled or not.
    @BusActor private final class LateSensor: Sensor {
        let name = "Late"
        let properties = SensorProperties(
            description: "Late",
            biometryType: .fingerprint,
            strength: .strong
        )
        let begun = EventRecorder<Bool>()
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
            // Imitates a driver whose call to another program is canceled with its task.
            guard !Task.isCancelled else { throw .canceled }
            ids.removeAll { $0 == id }
        }

        func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 { 0 }
    }

    @Test("A template finished after its enrolment was canceled is removed")
    @BusActor func removed() async throws {
        try await PrivateBus.run { bus in
            let (connection, daemon) = (try bus.connect(), try bus.connect())
            try daemon.requestName(Authentication1.busName)
            let sensor = LateSensor()
            let object = SensorObject(
                sensor,
                host: SensorHost(connection),
                daemon: DaemonCaller(on: connection),
                faultLog: FaultLog { _ in }
            )
            connection.export(Sensor1.path, [Sensor1Interface(object)])
            let proxy = Sensor1Proxy(
                daemon,
                destination: connection.uniqueName,
                path: Sensor1.path
            )
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
}

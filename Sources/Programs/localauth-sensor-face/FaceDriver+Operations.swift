import CameraDevice
import DBus
import FaceSensor
import SensorKit
import Synchronization

extension FaceDriver {
    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
        let enrolled = try await faults { () async throws(FaceFault) in
            try await self.store().entries(of: operation.user).map(\.camera)
        }
        guard !enrolled.isEmpty else { throw .noTemplates }
        let camera = try await usableCamera(of: enrolled.filter { !$0.isEmpty })
        let count = PendingMiss()
        return try await run(operation, camera, count) {
            (interruption, report) async throws(FaceFault) in
            let store = try self.store()
            while true {
                let templates = try await store.templates(
                    of: operation.user,
                    camera: camera.description
                )
                let match = try await self.scanner.verify(
                    templates,
                    camera: camera,
                    interruption,
                    isWaiting: { count.isWaiting },
                    report: report
                )
                // A template removed during the scan must not match: scan again with the rest.
                let left = try await store.entries(of: operation.user).map(\.id)
                guard left.contains(match.id) else { continue }
                self.offer(match, store, operation, camera)
                return match.id
            }
        }
    }

    /// Offers the seen face as an addition to the template, kept only until the password may
    /// confirm it.
    private func offer(
        _ match: Scanner.Match,
        _ store: TemplateStore,
        _ operation: SensorOperation,
        _ camera: CameraIdentity
    ) {
        guard let face = match.face else { return }
        let (threshold, user) = (settings.threshold, operation.user)
        operation.whenConfirmed { [self] () async throws(SensorFault) in
            try await faults { () async throws(FaceFault) in
                try await store.learn(
                    face,
                    into: match.id,
                    of: user,
                    camera: camera.description,
                    threshold: threshold
                )
            }
        }
    }

    func enroll(
        _ operation: SensorOperation,
        label: String
    ) async throws(SensorFault) -> String {
        let camera = try await usableCamera()
        return try await run(operation, camera) { (interruption, report) async throws(FaceFault) in
            let faces = try await self.scanner.enroll(
                camera: camera,
                interruption,
                report: report
            )
            guard !interruption.isRaised else { throw .camera(.interrupted) }
            return try await self.store()
                .add(
                    faces,
                    label: label,
                    user: operation.user,
                    camera: camera.description
                )
        }
    }

    /// The identity of the camera, preferably a camera that the user enrolled with.
    private func usableCamera(
        of enrolled: [String] = []
    ) async throws(SensorFault) -> CameraIdentity {
        refresh()
        guard properties.isPresent else { throw .disconnected }
        if case .failed(let message) = health { throw .failed(message) }
        return try await faults { () async throws(FaceFault) in
            do throws(CameraFault) {
                return try self.identity(of: enrolled)
            } catch {
                throw .camera(error)
            }
        }
    }

    private func run(
        _ operation: SensorOperation,
        _ camera: CameraIdentity,
        _ count: PendingMiss = PendingMiss(),
        _ body:
            @escaping @BusActor @Sendable (
                Interruption, @escaping @Sendable (Scanner.Report) -> Void
            ) async throws(FaceFault) -> String
    ) async throws(SensorFault) -> String {
        try await faults { () async throws(FaceFault) in
            let interruption: Interruption
            do throws(CameraFault) {
                interruption = try Interruption()
            } catch {
                throw .camera(error)
            }
            operation.onCancel { interruption.raise() }
            let settings = self.settings
            return try await body(interruption) { report in
                // Runs on the scanner's thread, before it takes the next frame.
                if report == .miss { count.begin() }
                let holder = report == .busy ? settings.holder(of: camera) : ""
                onLoop {
                    if report == .busy { return operation.busy(by: holder) }
                    guard report == .miss else { return Self.tell(report, operation) }
                    do throws(SensorFault) {
                        try await operation.noMatch()
                        count.end()
                        // Not earlier: the hint about the miss would replace this hint.
                        operation.hint(.lookAtCamera)
                    } catch {
                        interruption.raise()
                    }
                }
            }
        }
    }

    private static func tell(_ report: Scanner.Report, _ operation: SensorOperation) {
        switch report {
        case .ready: operation.ready()
        case .miss, .busy: break
        case .stage(let done): operation.stage(done, of: Int32(Enrolment.stages))
        case .hint(let hint): operation.hint(hint)
        }
    }

    func faults<Value: Sendable>(
        _ body: @escaping @BusActor @Sendable () async throws(FaceFault) -> Value
    ) async throws(SensorFault) -> Value {
        do throws(FaceFault) {
            return try await body()
        } catch {
            switch error {
            case .noTemplate: throw .noTemplates
            case .failed(let message): throw .failed(message)
            case .camera(.interrupted): throw .canceled
            case .camera(.busy): throw .busy
            case .camera(.disconnected): throw .disconnected
            case .camera(.untrusted(let message)), .camera(.failed(let message)):
                throw .failed(message)
            }
        }
    }
}

/// Tells the scanner's thread whether a miss is still being counted.
final class PendingMiss: Sendable {
    private let isCounting = Mutex(false)

    var isWaiting: Bool { isCounting.withLock { $0 } }
    func begin() { isCounting.withLock { $0 = true } }
    func end() { isCounting.withLock { $0 = false } }
}

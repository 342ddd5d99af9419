import DBus
import Glibc
import LocalAuthBus
import SensorKit

/// Replace `line` by your hardware: match and no-match are touches, unplug and plug remove it.
final class Doorbell: Sensor {
    let name = "Doorbell", host: SensorHost
    var properties = SensorProperties(
        description: "Doorbell", biometryType: .fingerprint, strength: .convenience)
    var kept: EnrolledTemplates, looking: CheckedContinuation<Bool?, Never>?
    var input: EventSource?
    init(_ host: SensorHost) throws {
        self.host = host
        kept = try EnrolledTemplates(folder: getenv("STATE_DIRECTORY").map { String(cString: $0) })
        (properties.enrollStages, properties.maximumTemplates) = (3, 4)
        properties.instructions = ["en": "Press the button", "de": "Drücken Sie den Knopf"]
        input = EventLoop.shared.watch(descriptor: 0) { [weak self] in self?.line() }
    }
    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
        guard let id = kept[operation.user].first?.id else { throw .noTemplates }
        operation.ready()
        while try await !touch(operation) { try await operation.noMatch() }
        return id
    }
    func enroll(_ operation: SensorOperation, label: String) async throws(SensorFault) -> String {
        operation.ready()
        for stage in 1...properties.enrollStages {
            while try await !touch(operation) { operation.hint(.liftAndRetry) }
            operation.stage(UInt32(stage), of: properties.enrollStages)
        }
        return try kept.add(for: operation.user, label: label)
    }
    func touch(_ operation: SensorOperation) async throws(SensorFault) -> Bool {
        operation.onCancel { self.touched(nil) }
        let isVain = operation.isCanceled || !properties.isPresent
        let touch = isVain ? nil : await withCheckedContinuation { looking = $0 }
        if let touch, !operation.isCanceled { return touch }
        throw properties.isPresent ? .canceled : .disconnected
    }
    func touched(_ isMatching: Bool?) { looking.take()?.resume(returning: isMatching) }
    func line() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, read(0, &bytes, bytes.count))
        if count == 0 { input?.cancel() }
        for word in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
            guard word.hasSuffix("plug") else { touched(word == "match"); continue }
            properties.isPresent = word == "plug"
            properties.unavailability = properties.isPresent ? nil : .noHardware
            host.propertiesChanged()
            touched(nil)
        }
    }
    func templates(of user: UInt32) -> [Template] { kept[user] }
    func rename(_ id: String, of user: UInt32, to label: String) throws(SensorFault) {
        try kept.rename(id, of: user, to: label)
    }
    func remove(_ id: String, of user: UInt32) throws(SensorFault) {
        try kept.remove(id, of: user)
    }
    func removeAll(of user: UInt32) throws(SensorFault) -> UInt32 { try kept.removeAll(of: user) }
}

SensorProgram(name: "doorbell", abstract: "Knows who rings.").main { host, _ in try Doorbell(host) }

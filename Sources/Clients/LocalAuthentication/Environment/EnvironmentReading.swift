internal import DBus
internal import Foundation
internal import LocalAuthBus
internal import LocalAuthClient

/// A snapshot of the mechanisms that could authenticate the user.
struct EnvironmentReading: Hashable, Sendable {
    var domain = DomainReading()
    var biometryCode: Int32 = -6
    var passcodeCode: Int32 = -6
    var isLidClosed = false

    @BusActor
    static func now() async -> EnvironmentReading {
        var reading = EnvironmentReading()
        guard let service = try? await ServiceConnection.shared.current() else { return reading }
        reading.domain = await DomainReading.now()
        reading.biometryCode = (try? await service.manager.canEvaluate(policy: 1).code) ?? -6
        reading.passcodeCode = (try? await service.manager.canEvaluate(policy: 2).code) ?? -6
        let sensors = (try? await service.sensors()) ?? []
        reading.isLidClosed = sensors.contains {
            Unavailability(rawValue: $0.unavailability) == .lidClosed
        }
        return reading
    }
}

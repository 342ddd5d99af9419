internal import DBus
internal import Foundation
internal import LocalAuthBus
internal import LocalAuthClient

/// What could authenticate the user at one moment, as values.
struct EnvironmentReading: Hashable, Sendable {
    var domain = DomainReading()
    var biometryCode: Int32 = -6
    var passcodeCode: Int32 = -6
    var isLidClosed = false

    @BusActor
    static func now(_ session: AuthenticationSession) async -> EnvironmentReading {
        var reading = EnvironmentReading()
        guard let link = try? await Service.shared.link() else { return reading }
        reading.domain = await DomainReading.now(session)
        reading.biometryCode = (try? await link.manager.canEvaluate(policy: 1).code) ?? -6
        reading.passcodeCode = (try? await link.manager.canEvaluate(policy: 2).code) ?? -6
        reading.isLidClosed = await isLidClosed(link)
        return reading
    }

    @BusActor
    private static func isLidClosed(_ link: Service.Link) async -> Bool {
        let reply = try? await link.connection.call(
            to: link.owner,
            path: Service.path,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "GetManagedObjects"
        )
        let objects = try? reply?
            .read("a{oa{sa{sv}}}") { (reader) throws(DBusError) in
                try reader.read([ObjectPath: [String: [String: Variant]]].self)
            }
        return (objects ?? [:]).values
            .contains {
                $0[Device1Proxy.interface]?["Unavailability"] == .string("lid-closed")
            }
    }
}

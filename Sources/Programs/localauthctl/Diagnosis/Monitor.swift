import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

/// Prints what the bus and the service report to an ordinary user: names, sensors, evaluations.
@BusActor final class Monitor {
    private let connection: Connection
    private let json: Bool
    private var names: [EventSource] = []
    private var signals: [EventSource] = []

    init(_ connection: Connection, json: Bool) {
        self.connection = connection
        self.json = json
    }

    func start() {
        for name in [Authentication1.busName, Passcode1.busName] {
            names.append(
                connection.watchName(name) { [weak self] owner in self?.nameChanged(name, owner) }
            )
        }
        names.append(
            connection.watchNames(under: Sensor1.namespace) { [weak self] name, owner in
                self?.nameChanged(name, owner)
            }
        )
    }

    func stop() {
        for source in names + signals { source.cancel() }
    }

    private func nameChanged(_ name: String, _ owner: String?) {
        say("name", name, [("owner", .string(owner ?? ""))])
        if name == Authentication1.busName { follow(owner) }
    }

    private func follow(_ owner: String?) {
        for source in signals { source.cancel() }
        signals = []
        guard let owner else { return }
        let objects = "org.freedesktop.DBus.ObjectManager"
        for member in ["InterfacesAdded", "InterfacesRemoved"] {
            listen(owner, Authentication1.path, objects, member) { [weak self] message in
                try self?.objectsChanged(message)
            }
        }
        listen(owner, nil, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
            [weak self] message in try self?.propertiesChanged(message)
        }
        let service = RemoteService(connection, owner: owner)
        signals.append(
            service.manager.onEvaluated { [weak self] in self?.evaluated(EvaluatedLine($0)) }
        )
        onLoop { [weak self] in await self?.present(service) }
    }

    /// Prints the existing sensors.
    ///
    /// Runs after the subscription to changes, so that no change is missed.
    private func present(_ service: RemoteService) async {
        do throws(DBusError) {
            try await service.manager.monitor(options: [:])
        } catch {
            let reason = serviceText(plainText(error.message, limit: 512))
            tell("localauthctl: " + localized("Evaluations can't be shown: %1$s", reason))
        }
        let sensors = (try? await service.plainSensors()) ?? []
        for sensor in sensors { say("present", sensor.path.rawValue, [("sensor", sensor.json)]) }
        tell(localized("Watching."))
    }

    private func listen(
        _ owner: String,
        _ path: ObjectPath?,
        _ interface: String,
        _ member: String,
        _ body: @escaping @BusActor (Message) throws -> Void
    ) {
        signals.append(
            connection.subscribe(
                sender: owner,
                path: path,
                interface: interface,
                member: member,
                broadcast: true
            ) { message in
                // Skip malformed signals.
                try? body(message)
            }
        )
    }

    private func evaluated(_ line: EvaluatedLine) {
        if json { return say("evaluated", line.app, line.detail) }
        print(line.text)
        flushOutput()
    }

    private func say(_ event: String, _ subject: String, _ detail: [(String, JSON)]) {
        if json {
            let object = JSON.object([
                ("event", .string(event)), ("subject", .string(subject)),
                ("detail", .object(detail)),
            ])
            print(object.text)
        } else {
            let words = detail.map { "\($0.0)=\($0.1.text)" }.joined(separator: " ")
            print(plainText("\(event) \(subject) \(words)", limit: 2048))
        }
        flushOutput()
    }
}

extension Monitor {
    private func objectsChanged(_ message: Message) throws {
        if message.member == "InterfacesRemoved" {
            let (path, _) = try message.read("oas") { reader throws(DBusError) in
                (try reader.read(ObjectPath.self), try reader.read([String].self))
            }
            return say("removed", path.rawValue, [])
        }
        let (path, interfaces) = try message.read("oa{sa{sv}}") { reader throws(DBusError) in
            let path = try reader.read(ObjectPath.self)
            return (path, try reader.read([String: [String: Variant]].self))
        }
        let device = RemoteSensor(path, interfaces)?.plain
        say("added", path.rawValue, device.map { [("sensor", $0.json)] } ?? [])
    }

    private func propertiesChanged(_ message: Message) throws {
        let (changed, invalidated) = try message.read("sa{sv}as") { reader throws(DBusError) in
            _ = try reader.read(String.self)
            return (try reader.read([String: Variant].self), try reader.read([String].self))
        }
        let values = changed.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }
        let asked = invalidated.map { ($0, JSON.null) }
        say("changed", message.path ?? "", values + asked)
    }
}

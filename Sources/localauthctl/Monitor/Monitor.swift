import AgentKit
import DBus
import LocalAuthBus
import Localization

/// Watches from outside: whatever the bus and the service tell an ordinary user.
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
        for name in [Service.name, "org.localauth.Passcode1"] {
            names.append(
                connection.watchName(name) { [weak self] owner in self?.nameChanged(name, owner) }
            )
        }
        names.append(
            connection.watchNames(under: "org.localauth.Sensor1") { [weak self] name, owner in
                self?.nameChanged(name, owner)
            }
        )
    }

    func stop() {
        for source in names + signals { source.cancel() }
    }

    private func nameChanged(_ name: String, _ owner: String?) {
        say("name", name, [("owner", .string(owner ?? ""))])
        if name == Service.name { follow(owner) }
    }

    private func follow(_ owner: String?) {
        for source in signals { source.cancel() }
        signals = []
        guard let owner else { return }
        let objects = "org.freedesktop.DBus.ObjectManager"
        for member in ["InterfacesAdded", "InterfacesRemoved"] {
            listen(owner, Service.path, objects, member) { [weak self] message in
                try self?.objectsChanged(message)
            }
        }
        listen(owner, nil, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
            [weak self] message in try self?.propertiesChanged(message)
        }
        let manager = Authentication1Proxy(connection, destination: owner, path: Service.path)
        signals.append(manager.onEvaluated { [weak self] in self?.evaluated(EvaluatedLine($0)) })
        onLoop { [weak self] in await self?.present(owner, manager) }
    }

    /// What is there already; from its answer on nothing is missed.
    private func present(_ owner: String, _ manager: Authentication1Proxy) async {
        do throws(DBusError) {
            try await manager.monitor(options: [:])
        } catch {
            let reason = serviceText(plainText(error.message, limit: 512))
            tell("localauthctl: " + localized("Evaluations can't be shown: %1$s", reason))
        }
        let sensors = (try? await Service(connection, owner).sensors()) ?? []
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
                // What can't be decoded isn't shown.
                try? body(message)
            }
        )
    }

    private func evaluated(_ line: EvaluatedLine) {
        if json { return say("evaluated", line.app, line.detail) }
        print(line.text)
        flushOutput()
    }

    func say(_ event: String, _ subject: String, _ detail: [(String, JSON)]) {
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

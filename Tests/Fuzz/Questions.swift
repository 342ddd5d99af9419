import DBus
import LocalAuthBus

/// A call for every type of answer.
enum Questions {
    struct Question: Sendable {
        let answer: String
        let ask: @BusActor @Sendable (Connection, ObjectPath) async throws -> Void

        init(
            _ answer: String,
            _ ask: @escaping @BusActor @Sendable (Connection, ObjectPath) async throws -> Void
        ) {
            self.answer = answer
            self.ask = ask
        }
    }

    static let all: [Question] = [
        Question("") { try await service($0, $1).invalidate() },
        Question("b") { _ = try await sensor($0, $1).learn(operation: 1) },
        Question("u") { _ = try await sensor($0, $1).removeAllTemplates(uid: 0) },
        Question("s") { _ = try await sensor($0, $1).verify(operation: 1, uid: 0, options: [:]) },
        Question("o") { _ = try await service($0, $1).createContext(properties: [:]) },
        Question("ss") { _ = try await sensor($0, $1).health() },
        Question("bis") { _ = try await service($0, $1).canEvaluate(policy: 1) },
        Question("bsss") { _ = try await service($0, $1).canInteract() },
        Question("a{sv}") {
            _ = try await service($0, $1).evaluate(policy: 1, reason: "", options: [:])
        },
        Question("aa{sv}") { _ = try await service($0, $1).diagnose() },
        Question("a(ssx)") { _ = try await sensor($0, $1).listTemplates(uid: 0) },
        Question("say") {
            let keychain = Keychain1Proxy($0, destination: MessagePeer.name, path: $1)
            _ = try await keychain.createKey(
                attributes: [:],
                accessControl: [:],
                options: [:]
            )
        },
        Question("ay") {
            let keychain = Keychain1Proxy($0, destination: MessagePeer.name, path: $1)
            _ = try await keychain.sign(
                id: "",
                algorithm: "",
                data: [],
                reason: "",
                options: [:]
            )
        },
        Question("v") { _ = try await service($0, $1).biometryTypes() },
        Question("a{sv}") { _ = try await service($0, $1).properties() },
    ]

    @BusActor
    private static func service(
        _ connection: Connection,
        _ path: ObjectPath
    ) -> Authentication1Proxy {
        Authentication1Proxy(connection, destination: MessagePeer.name, path: path)
    }

    @BusActor
    private static func sensor(_ connection: Connection, _ path: ObjectPath) -> Sensor1Proxy {
        Sensor1Proxy(connection, destination: MessagePeer.name, path: path)
    }
}

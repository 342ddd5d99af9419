import AuthEngine
import DBus
import LocalAuthBus
import TestSupport

/// A running call and its result.
@BusActor
final class RunningCall<Value: Sendable> {
    private let ended = EventRecorder<Result<Value, DBusError>>()

    init(_ body: @escaping @BusActor @Sendable () async throws(DBusError) -> Value) {
        let ended = ended
        onLoop {
            do throws(DBusError) {
                ended.record(.success(try await body()))
            } catch {
                ended.record(.failure(error))
            }
        }
    }

    var isPending: Bool { ended.seen.isEmpty }

    func value() async throws -> Value {
        try await ended.first("the end", within: .seconds(120)) { _ in true }.get()
    }
}

/// The keychain from the point of view of one client.
@BusActor
struct KeychainClient {
    let proxy: Keychain1Proxy

    static func control(
        _ flags: AccessControl.Flags,
        _ accessible: String? = nil
    ) -> [String: Variant] {
        var control: [String: Variant] = [:]
        if !flags.isEmpty { control["flags"] = .uint64(flags.rawValue) }
        control["accessible"] = accessible.map(Variant.string)
        return control
    }

    static func options(
        _ context: Context1Proxy?,
        _ others: [String: Variant] = [:]
    ) -> [String: Variant] {
        var options = others
        options["context"] = context.map { .objectPath($0.path) }
        return options
    }

    /// Adds a generic password and returns its id.
    func add(
        _ service: String,
        _ secret: String = "secret",
        flags: AccessControl.Flags = [],
        accessible: String? = nil,
        context: Context1Proxy? = nil
    ) async throws -> String {
        try await proxy.add(
            attributes: ["class": .string("genp"), "svce": .string(service)],
            secret: Array(secret.utf8),
            accessControl: Self.control(flags, accessible),
            options: Self.options(context)
        )
    }

    /// Starts a Read, which returns the secret as text.
    func reading(
        _ id: String,
        context: Context1Proxy? = nil,
        _ options: [String: Variant] = [:],
        reason: String = "open the vault"
    ) -> RunningCall<String> {
        let allOptions = Self.options(context, options)
        return RunningCall { [proxy] () throws(DBusError) in
            let secret = try await proxy.read(id: id, reason: reason, options: allOptions)
            return String(decoding: secret, as: UTF8.self)
        }
    }

    func read(
        _ id: String,
        context: Context1Proxy? = nil,
        _ options: [String: Variant] = [:],
        reason: String = "open the vault"
    ) async throws -> String {
        try await reading(id, context: context, options, reason: reason).value()
    }

    /// Returns the services of the items that a query finds, sorted.
    func services(
        _ query: [String: Variant] = [:],
        _ options: [String: Variant] = [:]
    ) async throws -> [String] {
        try await proxy.search(query: query, options: options)
            .compactMap { $0["svce"]?.asString }.sorted()
    }
}

/// A client's P-256 key.
@BusActor
struct KeychainKey {
    let id: String
    let point: [UInt8]
    let keychain: KeychainClient

    init(
        _ keychain: KeychainClient,
        _ flags: AccessControl.Flags = .privateKeyUsage,
        tag: UInt8 = 1,
        accessible: String? = nil,
        context: Context1Proxy? = nil,
        isTemporary: Bool = false
    ) async throws {
        self.keychain = keychain
        var options = KeychainClient.options(context)
        if isTemporary { options["temporary"] = .bool(true) }
        (id, point) = try await keychain.proxy.createKey(
            attributes: ["atag": .bytes([tag])],
            accessControl: KeychainClient.control(flags, accessible),
            options: options
        )
    }

    /// Refers to a key through another connection of its user.
    init(_ key: KeychainKey, of keychain: KeychainClient) {
        (id, point) = (key.id, key.point)
        self.keychain = keychain
    }

    func sign(
        _ data: [UInt8],
        _ algorithm: String = "ecdsa-message-sha256",
        context: Context1Proxy? = nil
    ) -> RunningCall<[UInt8]> {
        let options = KeychainClient.options(context)
        return RunningCall { [id, keychain] () throws(DBusError) in
            try await keychain.proxy.sign(
                id: id,
                algorithm: algorithm,
                data: data,
                reason: "sign",
                options: options
            )
        }
    }

    func decrypt(
        _ data: [UInt8],
        _ algorithm: String = "ecies-cofactor-x963-sha256-aesgcm",
        context: Context1Proxy? = nil
    ) async throws -> [UInt8] {
        try await keychain.proxy.decrypt(
            id: id,
            algorithm: algorithm,
            data: data,
            reason: "decrypt",
            options: KeychainClient.options(context)
        )
    }

    func exchange(
        _ point: [UInt8],
        _ algorithm: String = "ecdh",
        _ options: [String: Variant] = [:],
        context: Context1Proxy? = nil
    ) async throws -> [UInt8] {
        try await keychain.proxy.keyExchange(
            id: id,
            algorithm: algorithm,
            publicKey: point,
            reason: "agree",
            options: KeychainClient.options(context, options)
        )
    }
}

extension ServiceBench {
    func keychain(_ connection: Connection? = nil) -> KeychainClient {
        KeychainClient(
            proxy: Keychain1Proxy(
                connection ?? client,
                destination: daemon.owner,
                path: ObjectPath(trusted: "/org/localauth/Keychain1")
            )
        )
    }
}

extension Person {
    var shownPrompts: Int { prompts.seen.count }

    /// Waits until a prompt asks for a password with this cause, `count` times in total.
    func asked(_ cause: String, _ count: Int = 1) async throws {
        _ = try await updates.first("\(cause) to be asked for") { _ in
            updates.seen.count { $0.kind == "passcode-required" && $0.cause == cause }
                >= count
        }
    }

    /// Waits until prompts have asked `count` times for an item's password.
    func askedForPassword(_ count: Int = 1) async throws {
        _ = try await updates.first("a password to be asked for") { _ in
            updates.seen.filter { $0.kind == "application-password-required" }.count >= count
        }
    }

    /// Submits wrong login passwords, each after the rejection of the previous.
    func guess(_ count: Int, _ word: String = "wrong", into prompt: Prompt) async throws {
        var rejected: Int { updates.seen.count { $0.kind == "passcode-rejected" } }
        let before = rejected
        for number in 0..<count {
            if number > 0 {
                _ = try await updates.first("rejection \(number)") { _ in
                    rejected >= before + number
                }
            }
            try await submit(passcode: word, into: prompt)
        }
    }

    /// Types into the latest prompt.
    func type(_ text: String) async throws {
        enter(text, into: try await prompt(prompts.seen.count - 1))
    }

    /// Cancels the latest prompt.
    func cancel(on bench: ServiceBench) async throws {
        let handle = try await prompt(prompts.seen.count - 1).handle
        try await bench.manager(connection).submitCancel(prompt: handle)
    }
}

extension Context1Proxy {
    /// Sets an application password or a PIN.
    ///
    /// Returns false if the context is invalid.
    @discardableResult
    func setPassword(_ text: String, type: Int32 = 0) async throws(DBusError) -> Bool {
        try await setCredential(credentialType: type, secret: Array(text.utf8), options: [:])
    }

    /// Lets a person type an app's own password ahead, for items that are read afterwards.
    func ask(_ person: Person, typing password: String) async throws {
        let call = try evaluateAccessControlStream(
            accessControl: KeychainClient.control(.applicationPassword),
            operation: AccessOperation.useItem.rawValue,
            reason: "test",
            options: [:]
        )
        _ = try await person.prompt()
        try await person.type(password)
        _ = try await call.reply()
    }
}

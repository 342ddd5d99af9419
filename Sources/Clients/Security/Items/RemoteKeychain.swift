package import DBus
internal import LocalAuthBus
package import LocalAuthClient
internal import Sealing

/// The service's keychain, with Apple's errors.
@BusActor
package struct RemoteKeychain {
    /// The context and the options for prompts of a call.
    package struct PromptOptions: Sendable {
        package var context: (any AuthenticationContextSource)?
        /// The context of a call without a context of the caller, which uses several guarded items.
        var shared: RemoteContext?
        package var forbidsInteraction = false
        package var reason: String?

        package init(
            context: (any AuthenticationContextSource)? = nil,
            forbidsInteraction: Bool = false,
            reason: String? = nil
        ) {
            self.context = context
            self.forbidsInteraction = forbidsInteraction
            self.reason = reason
        }

        /// Whether the item needs no prompt.
        var needsNoPrompt = false

        @BusActor var gate: Gate {
            needsNoPrompt || forbidsPrompt ? .reading : .asking
        }

        /// The default text; Apple also shows one if the app gives no reason.
        private static let defaultReason = "use a stored secret"

        var text: String {
            [reason, context?.promptReason].compactMap(\.self).first { !$0.isEmpty }
                ?? Self.defaultReason
        }

        @BusActor var forbidsPrompt: Bool {
            forbidsInteraction || context?.forbidsInteraction == true
        }

        /// Returns the options of a call.
        ///
        /// Calls that never prompt (`asks` is false) don't accept `interaction-not-allowed`.
        @BusActor
        func options(
            for service: RemoteService,
            asks: Bool = true
        ) async throws(KeychainFailure) -> [String: Variant] {
            var options: [String: Variant] = [:]
            if asks, forbidsPrompt { options["interaction-not-allowed"] = .bool(true) }
            guard context?.isInvalidated != true else {
                throw KeychainFailure(errSecAuthFailed, "The context was invalidated.")
            }
            do throws(AuthenticationError) {
                let path = try await context?.prepare(on: service)
                let shared = try await shared?.current(on: service).path
                options["context"] = (path ?? shared).map(Variant.objectPath)
            } catch {
                throw KeychainFailure(error)
            }
            return options
        }
    }

    /// The service at creation, for all calls of one operation.
    private let service: RemoteService
    let connection: ServiceConnection
    private var proxy: Keychain1Proxy { service.keychain }

    init(_ service: RemoteService, _ connection: ServiceConnection) {
        (self.service, self.connection) = (service, connection)
    }

    package init(_ connection: ServiceConnection = .shared) async throws(KeychainFailure) {
        self.connection = connection
        do throws(AuthenticationError) {
            service = try await connection.current()
        } catch {
            throw KeychainFailure(error)
        }
    }

    package func add(
        _ attributes: [String: Variant],
        secret: [UInt8],
        _ accessControl: [String: Variant],
        _ use: PromptOptions,
        _ more: [String: Variant] = [:]
    ) async throws(KeychainFailure) -> String {
        let loan = try await storeOptions(for: accessControl, use)
        return try await add(attributes, secret: secret, accessControl, loan, more)
    }

    func add(
        _ attributes: [String: Variant],
        secret: [UInt8],
        _ accessControl: [String: Variant],
        _ loan: StoreOptions,
        _ more: [String: Variant]
    ) async throws(KeychainFailure) -> String {
        defer { withExtendedLifetime(loan) {} }
        let allOptions = loan.options.merging(more) { $1 }.merging(RemoteService.sealed) { $1 }
        let secret = SecretBytes(secret)
        return try await onKeychain { () async throws(DBusError) in
            try await Gate.writing.pass { () async throws(DBusError) in
                try await proxy.add(
                    attributes: attributes,
                    secret: try await service.seal(secret),
                    accessControl: accessControl,
                    options: allOptions,
                    timeout: Connection.noTimeout
                )
            }
        }
    }

    package func search(
        _ query: [String: Variant],
        skippingGuarded: Bool = false
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        try await onKeychain { () async throws(DBusError) in
            try await Gate.searching.pass { () async throws(DBusError) in
                try await RemoteService.retryingReadOnly { () throws(DBusError) in
                    try await proxy.search(
                        query: query,
                        options: skippingGuarded ? ["skip-authenticated": .bool(true)] : [:]
                    )
                }
            }
        }
    }

    /// Finds items, with the secrets of the first `count` items, as far as no prompt is needed.
    ///
    /// An evaluated `context` may open a guarded item.
    func readMatching(
        _ query: [String: Variant],
        secrets count: Int,
        skippingGuarded: Bool,
        on context: ObjectPath?
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        var more = RemoteService.sealingReply
        more["secrets"] = .uint32(UInt32(clamping: count))
        more["context"] = context.map(Variant.objectPath)
        if skippingGuarded { more["skip-authenticated"] = .bool(true) }
        let options = more
        do throws(DBusError) {
            return try await Gate.reading.pass { () async throws(DBusError) in
                try await RemoteService.retryingReadOnly { () throws(DBusError) in
                    try await proxy.readMatching(query: query, options: options)
                }
            }
        } catch {
            // An older service lacks the method, and the context may be gone.
            guard error.name == .unknownMethod || error.name == .unknownObject else {
                throw KeychainFailure(error)
            }
            return try await search(query, skippingGuarded: skippingGuarded)
        }
    }

    /// Opens the secret of an item that ``readMatching(_:secrets:skippingGuarded:on:)`` found.
    func open(_ sealed: [UInt8]) throws(KeychainFailure) -> [UInt8] {
        do throws(DBusError) {
            return try service.open(sealed).use { $0 }
        } catch {
            throw KeychainFailure(error)
        }
    }

    /// The context object of a query, if no call is needed to prepare it.
    func preparedContext(of query: ItemDictionary) -> ObjectPath? {
        guard let context = query.context, !context.isInvalidated else { return nil }
        return context.remote.existingPath(on: service)
    }

    package func read(_ id: String, _ use: PromptOptions) async throws(KeychainFailure) -> [UInt8] {
        try await receive(use) { options throws(DBusError) in
            try await proxy.read(id: id, reason: use.text, options: options)
        }
    }

    /// Makes a call that returns a secret, sealed to this process.
    private func receive(
        _ use: PromptOptions,
        _ parameters: [String: Variant] = [:],
        _ call: @BusActor (_ options: [String: Variant]) async throws(DBusError) -> [UInt8]
    ) async throws(KeychainFailure) -> [UInt8] {
        let options = try await use.options(for: service).merging(parameters) { $1 }
            .merging(RemoteService.sealingReply) { $1 }
        return try await onKeychain { () async throws(DBusError) in
            let reply = try await use.gate.pass { () async throws(DBusError) in
                try await call(options)
            }
            return try service.open(reply).use { $0 }
        }
    }

    /// Changes attributes; `keeping` makes a temporary key permanent.
    func update(
        _ id: String,
        _ attributes: [String: Variant],
        keeping: Bool = false
    ) async throws(KeychainFailure) {
        try await onKeychain { () async throws(DBusError) in
            try await Gate.writing.pass { () async throws(DBusError) in
                try await proxy.update(
                    id: id,
                    attributes: attributes,
                    options: keeping ? ["keep": .bool(true)] : [:]
                )
            }
        }
    }

    /// Changes a secret and attributes in one transaction.
    func setSecret(
        _ id: String,
        _ secret: [UInt8],
        _ attributes: [String: Variant],
        _ loan: StoreOptions
    ) async throws(KeychainFailure) {
        defer { withExtendedLifetime(loan) {} }
        var more = loan.options.merging(RemoteService.sealed) { $1 }
        if !attributes.isEmpty { more["attributes"] = .dictionary(attributes) }
        let (options, secret) = (more, SecretBytes(secret))
        try await onKeychain { () async throws(DBusError) in
            try await Gate.writing.pass { () async throws(DBusError) in
                try await proxy.setSecret(
                    id: id,
                    secret: try await service.seal(secret),
                    options: options,
                    timeout: Connection.noTimeout
                )
            }
        }
    }

    package func delete(_ ids: [String]) async throws(KeychainFailure) {
        _ = try await onKeychain { () async throws(DBusError) in
            try await Gate.writing.pass { () async throws(DBusError) in
                try await proxy.delete(ids: ids)
            }
        }
    }
}

extension RemoteKeychain {
    package func createKey(
        _ attributes: [String: Variant],
        _ accessControl: [String: Variant],
        _ use: PromptOptions,
        isTemporary: Bool = false
    ) async throws(KeychainFailure) -> (id: String, publicKey: [UInt8]) {
        let loan = try await storeOptions(for: accessControl, use)
        defer { withExtendedLifetime(loan) {} }
        var options = loan.options
        if isTemporary { options["temporary"] = .bool(true) }
        let all = options
        return try await onKeychain { () async throws(DBusError) in
            try await Gate.writing.pass { () async throws(DBusError) in
                try await proxy.createKey(
                    attributes: attributes,
                    accessControl: accessControl,
                    options: all,
                    timeout: Connection.noTimeout
                )
            }
        }
    }

    func sign(
        _ id: String,
        _ algorithm: String,
        _ data: [UInt8],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        let options = try await use.options(for: service)
        return try await onKeychain { () async throws(DBusError) in
            try await use.gate.pass { () async throws(DBusError) in
                try await proxy.sign(
                    id: id,
                    algorithm: algorithm,
                    data: data,
                    reason: use.text,
                    options: options
                )
            }
        }
    }

    func decrypt(
        _ id: String,
        _ algorithm: String,
        _ data: [UInt8],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        try await receive(use) { options throws(DBusError) in
            try await proxy.decrypt(
                id: id,
                algorithm: algorithm,
                data: data,
                reason: use.text,
                options: options
            )
        }
    }

    func agree(
        _ id: String,
        _ algorithm: String,
        _ publicKey: [UInt8],
        _ parameters: [String: Variant],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        try await receive(use, parameters) { options throws(DBusError) in
            try await proxy.keyExchange(
                id: id,
                algorithm: algorithm,
                publicKey: publicKey,
                reason: use.text,
                options: options
            )
        }
    }
}

extension RemoteKeychain {
    /// Options of a call that stores a secret.
    ///
    /// The context in the options has to outlive the call, so this value holds it.
    struct StoreOptions: Sendable {
        let options: [String: Variant]
        fileprivate let context: RemoteContext?
    }

    /// Returns the options for storing an item with an access control.
    ///
    /// The application password comes from the context; otherwise a prompt asks for it, as on
    /// Apple's systems.
    ///
    /// - Throws: The errors of keychain calls that prompt.
    func storeOptions(
        for accessControl: [String: Variant],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> StoreOptions {
        var options = try await use.options(for: service, asks: false)
        let flags = SecAccessControlCreateFlags(
            rawValue: CFOptionFlags(accessControl["flags"]?.asUInt64 ?? 0)
        )
        guard flags.contains(.applicationPassword) else {
            return StoreOptions(options: options, context: nil)
        }
        let context = use.context?.remote ?? use.shared ?? RemoteContext(connection)
        let object: Context1Proxy
        do throws(AuthenticationError) {
            object = try await context.current()
        } catch {
            throw KeychainFailure(error)
        }
        var more: [String: Variant] = [:]
        if use.forbidsPrompt { more["interaction-not-allowed"] = .bool(true) }
        let (wire, reason) = (more, use.text)
        try await onKeychain { () async throws(DBusError) in
            guard try await !object.isCredentialSet(credentialType: 0) else { return }
            _ = try await object.evaluateAccessControl(
                accessControl: accessControl,
                operation: 0,
                reason: reason,
                options: wire
            )
        }
        options["context"] = .objectPath(object.path)
        return StoreOptions(options: options, context: context)
    }
}

extension SecAccessControl {
    /// The wire format.
    package var wire: [String: Variant] {
        ["flags": .uint64(UInt64(flags.rawValue)), "accessible": .string(accessible)]
    }
}

// Made by dbus-codegen from dbus/org.localauth.Context1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Context1` of one object; the docs are at `Context1Service`.
@BusActor
public struct Context1Proxy: Sendable {
    private nonisolated static let interface = Context1.interface

    /// What the calls go over.
    public let connection: Connection

    /// The bus name that the calls go to.
    public let destination: String

    /// The object that the calls go to.
    public let path: ObjectPath

    /// Makes the proxy of an object; nothing is sent.
    public init(_ connection: Connection, destination: String, path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    /// Says whether a policy could be evaluated now, without a prompt.
    public func canEvaluate(
        policy: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> (available: Bool, code: Int32, message: String) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CanEvaluate",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(policy)
        }
        return try reply.read("bis") { (reader) throws(DBusError) in
            (
                available: try reader.read(Bool.self),
                code: try reader.read(Int32.self),
                message: try reader.read(String.self)
            )
        }
    }

    /// Authenticates the person, or answers at once when this context has a success that satisfies.
    public func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [String: Variant] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Evaluate",
            signature: "usa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(policy)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
    }

    /// Starts `Evaluate` and follows its events until the reply.
    public func evaluateStream(
        policy: UInt32,
        reason: String,
        options: [String: Variant]
    ) throws(DBusError) -> StreamingCall<[String: Variant]> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Evaluate",
            signature: "usa{sv}",
            matching: .path
        ) { (writer) throws(DBusError) in
            try writer.write(policy)
            try writer.write(reason)
            try writer.write(options)
        } reply: { (reply) throws(DBusError) in
            try reply.read("a{sv}") { (reader) throws(DBusError) in
                try reader.read([String: Variant].self)
            }
        }
    }

    /// Authenticates the person for one operation on an item with that access control.
    public func evaluateAccessControl(
        accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [String: Variant] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "EvaluateAccessControl",
            signature: "a{sv}usa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(accessControl)
            try writer.write(operation)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
    }

    /// Starts `EvaluateAccessControl` and follows its events until the reply.
    public func evaluateAccessControlStream(
        accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: [String: Variant]
    ) throws(DBusError) -> StreamingCall<[String: Variant]> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "EvaluateAccessControl",
            signature: "a{sv}usa{sv}",
            matching: .path
        ) { (writer) throws(DBusError) in
            try writer.write(accessControl)
            try writer.write(operation)
            try writer.write(reason)
            try writer.write(options)
        } reply: { (reply) throws(DBusError) in
            try reply.read("a{sv}") { (reader) throws(DBusError) in
                try reader.read([String: Variant].self)
            }
        }
    }

    /// Gives the context a secret that it would ask for otherwise.
    public func setCredential(
        credentialType: Int32,
        secret: [UInt8],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetCredential",
            signature: "iaya{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(credentialType)
            try writer.write(secret)
            try writer.write(options)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Forgets a credential of the context.
    public func clearCredential(
        credentialType: Int32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ClearCredential",
            signature: "i",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(credentialType)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Says whether the context has a credential of that type.
    public func isCredentialSet(
        credentialType: Int32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "IsCredentialSet",
            signature: "i",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(credentialType)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Makes the context unusable.
    public func invalidate(timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Invalidate",
            signature: "",
            timeout: timeout
        )
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Invalidate` and asks for no reply.
    public func sendInvalidate() {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Invalidate",
            signature: ""
        )
    }

    /// Takes the context object away.
    public func release(timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Release",
            signature: "",
            timeout: timeout
        )
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Release` and asks for no reply.
    public func sendRelease() {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Release",
            signature: ""
        )
    }

    /// Title of the fallback button, for evaluations that start later.
    public func localizedFallbackTitle() async throws(DBusError) -> String {
        try await connection.property(
            "LocalizedFallbackTitle",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// Sets `LocalizedFallbackTitle`.
    public func setLocalizedFallbackTitle(_ value: String) async throws(DBusError) {
        try await connection.setProperty(
            "LocalizedFallbackTitle",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Title of the cancel button, for evaluations that start later.
    public func localizedCancelTitle() async throws(DBusError) -> String {
        try await connection.property(
            "LocalizedCancelTitle",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// Sets `LocalizedCancelTitle`.
    public func setLocalizedCancelTitle(_ value: String) async throws(DBusError) {
        try await connection.setProperty(
            "LocalizedCancelTitle",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Reason for prompts whose caller gave none, such as keychain reads with this context.
    public func localizedReason() async throws(DBusError) -> String {
        try await connection.property(
            "LocalizedReason",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// Sets `LocalizedReason`.
    public func setLocalizedReason(_ value: String) async throws(DBusError) {
        try await connection.setProperty(
            "LocalizedReason",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Whether evaluations answer `org.localauth.Error.NotInteractive` instead of a prompt.
    public func interactionNotAllowed() async throws(DBusError) -> Bool {
        try await connection.property(
            "InteractionNotAllowed",
            of: Self.interface,
            at: path,
            on: destination,
            as: Bool.self
        )
    }

    /// Sets `InteractionNotAllowed`.
    public func setInteractionNotAllowed(_ value: Bool) async throws(DBusError) {
        try await connection.setProperty(
            "InteractionNotAllowed",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Age of a biometric device unlock, in seconds, that is accepted in place of a prompt.
    public func reuseDuration() async throws(DBusError) -> Double {
        try await connection.property(
            "ReuseDuration",
            of: Self.interface,
            at: path,
            on: destination,
            as: Double.self
        )
    }

    /// Sets `ReuseDuration`.
    public func setReuseDuration(_ value: Double) async throws(DBusError) {
        try await connection.setProperty(
            "ReuseDuration",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// How long a success stays with this context, in seconds; it counts at once, for what was
    /// proved before as well.
    public func successDuration() async throws(DBusError) -> Double {
        try await connection.property(
            "SuccessDuration",
            of: Self.interface,
            at: path,
            on: destination,
            as: Double.self
        )
    }

    /// Sets `SuccessDuration`.
    public func setSuccessDuration(_ value: Double) async throws(DBusError) {
        try await connection.setProperty(
            "SuccessDuration",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Kept for callers that set it; it has no effect.
    public func maxBiometryFailures() async throws(DBusError) -> UInt32 {
        try await connection.property(
            "MaxBiometryFailures",
            of: Self.interface,
            at: path,
            on: destination,
            as: UInt32.self
        )
    }

    /// Sets `MaxBiometryFailures`.
    public func setMaxBiometryFailures(_ value: UInt32) async throws(DBusError) {
        try await connection.setProperty(
            "MaxBiometryFailures",
            of: Self.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Biometry type of the strongest sensor that is known, available or not.
    public func biometryType() async throws(DBusError) -> UInt32 {
        try await connection.property(
            "BiometryType",
            of: Self.interface,
            at: path,
            on: destination,
            as: UInt32.self
        )
    }

    /// Enrolment state as of the last biometric success of this context, 32 bytes; empty is none.
    public func evaluatedPolicyDomainState() async throws(DBusError) -> [UInt8] {
        try await connection.property(
            "EvaluatedPolicyDomainState",
            of: Self.interface,
            at: path,
            on: destination,
            as: [UInt8].self
        )
    }

    /// Enrolment state now, readable without CanEvaluate.
    public func domainState() async throws(DBusError) -> [String: Variant] {
        try await connection.property(
            "DomainState",
            of: Self.interface,
            at: path,
            on: destination,
            as: [String: Variant].self
        )
    }

    /// Progress of an evaluation, sent to the creator only.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onEvent(
        sender: String? = nil,
        _ body: @escaping @BusActor (_ kind: String, _ detail: [String: Variant]) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "Event",
            broadcast: false
        ) { message in
            let values = try? message.read("sa{sv}") { (reader) throws(DBusError) in
                (
                    kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self)
                )
            }
            guard let values else { return }
            body(values.kind, values.detail)
        }
    }

    /// All properties with their present values.
    public func properties(timeout: Duration? = nil) async throws(DBusError) -> [String: Variant] {
        try await connection.properties(
            of: Self.interface,
            at: path,
            on: destination,
            timeout: timeout
        )
    }

    /// Tells what properties have changed, with the new values of some.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one. Without
    /// `broadcast` only what is sent to this connection by name is told.
    public func onPropertiesChanged(
        sender: String? = nil,
        broadcast: Bool = true,
        _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
    ) -> EventSource {
        connection.onPropertiesChanged(
            of: Self.interface,
            at: path,
            sender: sender ?? destination,
            broadcast: broadcast,
            body
        )
    }
}

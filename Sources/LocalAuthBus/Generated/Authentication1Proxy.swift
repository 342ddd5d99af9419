// Made by dbus-codegen from dbus/org.localauth.Authentication1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Authentication1` of one object; the docs are at `Authentication1Service`.
@BusActor
public struct Authentication1Proxy: Sendable {
    private nonisolated static let interface = Authentication1.interface

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

    /// Authenticates the person once, in a context that lives for this call.
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
            matching: .call
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

    /// Says whether Evaluate would show this caller a prompt now, and if not, why.
    public func canInteract(
        timeout: Duration? = nil
    ) async throws(DBusError) -> (available: Bool, cause: String, message: String, remedy: String) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CanInteract",
            signature: "",
            timeout: timeout
        )
        return try reply.read("bsss") { (reader) throws(DBusError) in
            (
                available: try reader.read(Bool.self),
                cause: try reader.read(String.self),
                message: try reader.read(String.self),
                remedy: try reader.read(String.self)
            )
        }
    }

    /// Ends every one-shot evaluation of this caller.
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

    /// Creates a context, which only this connection sees and calls.
    public func createContext(
        properties: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> ObjectPath {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CreateContext",
            signature: "a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(properties)
        }
        return try reply.read("o") { (reader) throws(DBusError) in
            try reader.read(ObjectPath.self)
        }
    }

    /// Registers the object of this caller that shows prompts (`org.localauth.Agent1`).
    public func registerAgent(
        agent: ObjectPath,
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RegisterAgent",
            signature: "oa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(agent)
            try writer.write(options)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Withdraws an agent of this caller.
    public func unregisterAgent(
        agent: ObjectPath,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "UnregisterAgent",
            signature: "o",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(agent)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `UnregisterAgent` and asks for no reply.
    public func sendUnregisterAgent(agent: ObjectPath) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "UnregisterAgent",
            signature: "o"
        ) { (writer) throws(DBusError) in
            try writer.write(agent)
        }
    }

    /// Tells that the person pressed the cancel button of a prompt.
    public func submitCancel(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitCancel",
            signature: "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SubmitCancel` and asks for no reply.
    public func sendSubmitCancel(prompt: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitCancel",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
    }

    /// Tells that the person pressed the fallback button of a prompt.
    public func submitFallback(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitFallback",
            signature: "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SubmitFallback` and asks for no reply.
    public func sendSubmitFallback(prompt: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitFallback",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
    }

    /// Tells that the person confirmed a match of a passive sensor.
    public func submitConfirm(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitConfirm",
            signature: "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SubmitConfirm` and asks for no reply.
    public func sendSubmitConfirm(prompt: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitConfirm",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
        }
    }

    /// Submits an attempt at the login's password, sealed to the verifier.
    public func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitPasscode",
            signature: "say",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(sealed)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SubmitPasscode` and asks for no reply.
    public func sendSubmitPasscode(prompt: String, sealed: [UInt8]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitPasscode",
            signature: "say",
            isSensitive: true
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(sealed)
        }
    }

    /// Submits the app's own password, in the stage `application-password`.
    public func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitPassword",
            signature: "saya{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(password)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SubmitPassword` and asks for no reply.
    public func sendSubmitPassword(prompt: String, password: [UInt8], options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SubmitPassword",
            signature: "saya{sv}",
            isSensitive: true
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(password)
            try writer.write(options)
        }
    }

    /// Refuses biometry of a user until the next correct passcode (remote lock).
    public func requirePasscode(
        uid: UInt32,
        cause: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RequirePasscode",
            signature: "us",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(cause)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RequirePasscode` and asks for no reply.
    public func sendRequirePasscode(uid: UInt32, cause: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RequirePasscode",
            signature: "us"
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(cause)
        }
    }

    /// Tells that a user unlocked the device outside of this service.
    public func reportUnlock(
        uid: UInt32,
        method: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ReportUnlock",
            signature: "us",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(method)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `ReportUnlock` and asks for no reply.
    public func sendReportUnlock(uid: UInt32, method: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ReportUnlock",
            signature: "us"
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(method)
        }
    }

    /// Sends this caller the signal `Evaluated` from now on, until it leaves the bus.
    public func monitor(
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Monitor",
            signature: "a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Monitor` and asks for no reply.
    public func sendMonitor(options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Monitor",
            signature: "a{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(options)
        }
    }

    /// Checks what the service depends on, for people and for scripts.
    public func diagnose(timeout: Duration? = nil) async throws(DBusError) -> [[String: Variant]] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Diagnose",
            signature: "",
            timeout: timeout
        )
        return try reply.read("aa{sv}") { (reader) throws(DBusError) in
            try reader.read([[String: Variant]].self)
        }
    }

    /// Version of the daemon, as in its `--version`.
    public func version() async throws(DBusError) -> String {
        try await connection.property(
            "Version",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
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

    /// Biometry types of all known sensors, each once, in ascending order.
    public func biometryTypes() async throws(DBusError) -> [UInt32] {
        try await connection.property(
            "BiometryTypes",
            of: Self.interface,
            at: path,
            on: destination,
            as: [UInt32].self
        )
    }

    /// Whether Evaluate, called now by this caller, would show a prompt: its session is in front
    /// and not locked, and an agent serves it there.
    public func interactive() async throws(DBusError) -> Bool {
        try await connection.property(
            "Interactive",
            of: Self.interface,
            at: path,
            on: destination,
            as: Bool.self
        )
    }

    /// Progress of a one-shot evaluation, sent to its caller only.
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

    /// How an evaluation ended, sent to those who called Monitor only.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onEvaluated(
        sender: String? = nil,
        _ body: @escaping @BusActor (_ record: [String: Variant]) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "Evaluated",
            broadcast: false
        ) { message in
            let values = try? message.read("a{sv}") { (reader) throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            guard let values else { return }
            body(values)
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

// Made by dbus-codegen from dbus/org.localauth.Context1.xml. Do not edit.
public import DBus

/// A context: evaluations that remember what the person has proved already.
///
/// Made by `org.localauth.Authentication1.CreateContext`; only its creator sees or calls it,
/// anybody else is answered `org.freedesktop.DBus.Error.UnknownObject`. A success stays with the
/// context until Invalidate, Release, a lockout, an enrolment change or 10 minutes
/// (`SuccessMinutes`): biometry satisfies policies 1, 2 and 4, a companion 3 and 4, a passcode 2
/// only. A sensor's success satisfies only requests whose `minimum-strength` is at most the
/// strength of that sensor. PropertiesChanged goes to the creator only.
///
/// Source: R30 to R37.
@BusActor
public protocol Context1Service: AnyObject {
    /// Says whether a policy could be evaluated now, without a prompt.
    ///
    /// As `org.localauth.Authentication1.CanEvaluate`. A success of a biometric policy (1, 4) sets
    /// EvaluatedPolicyDomainState. After Invalidate: false, -10.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for an unknown policy.
    ///
    /// Source: R10, R14, R31, R40.
    func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)>

    /// Authenticates the person, or answers at once when this context has a success that satisfies.
    ///
    /// The reply is the verdict; progress comes as `Event` signals before it. The properties of the
    /// context and the arguments are frozen when the call arrives; an option takes precedence over
    /// the property of the same meaning. Call it without a timeout of the bus library.
    ///
    /// `reason`: plain text for the prompt, 1 byte to 64 KiB, not empty once stripped.
    ///
    /// Options:
    /// - `timeout` (t, milliseconds, default 120000, 0 is the default, at most 600000)
    /// - `fallback-title` (s, default LocalizedFallbackTitle)
    /// - `cancel-title` (s, default LocalizedCancelTitle)
    /// - `interaction-not-allowed` (b, default InteractionNotAllowed)
    /// - `reuse-duration` (d, seconds, default ReuseDuration, finite and not negative, effect
    ///   capped at 300)
    /// - `sensors` (as, default: all)
    /// - `minimum-strength` (s, `strong`, `weak` or `convenience`, default `convenience`)
    /// - `require-confirmation` (b, default: a face that is not strong is confirmed in the prompt)
    /// - `parent-window` (s, default none)
    /// - `activation-token` (s, default none)
    ///
    /// Result:
    /// - `mechanism` (s, `biometry`, `passcode`, `companion`, `reuse` or `context`, the last for an
    ///   earlier success of this context)
    /// - `biometry-type` (u)
    /// - `sensor` (s)
    /// - `strength` (s)
    /// - `domain-state` (ay, only with biometry)
    ///
    /// Errors: those of `org.localauth.Authentication1.Evaluate`, and
    /// `org.localauth.Error.InvalidContext` after Invalidate.
    ///
    /// Source: R1 to R5, R10 to R13, R20 to R26, R30 to R34, R40, L2, L5 to L10.
    func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]>

    /// Authenticates the person for one operation on an item with that access control.
    ///
    /// `accessControl`:
    /// - `flags` (t, the SecAccessControlCreateFlags bits, default 0: no authentication)
    /// - `accessible` (s, `ak`, `ck`, `aku`, `cku` or `akpu`; `dk` and `dku` read as `ak`)
    ///
    /// `operation`: 0 createItem, 1 useItem, 2 createKey, 3 useKeySign, 4 useKeyDecrypt, 5
    /// useKeyKeyExchange.
    ///
    /// Afterwards Keychain1 takes this context for such an item without a prompt, for this
    /// operation only. Several constraints are taken in one prompt, one after the other, and so is
    /// an application password that the context doesn't have; whether that password is right shows
    /// when it opens something. Where nothing has to be proved the answer comes at once, with
    /// mechanism `context`. It never sets EvaluatedPolicyDomainState.
    ///
    /// Options and result are those of Evaluate, without a fallback button and without
    /// `domain-state`; sensors below the service's `KeychainStrength` don't count. One more option
    /// is `requester` (a{sv}: `name` s, and `pid` u where it is known): on whose behalf the caller
    /// asks. Only the caller says so: the prompt shows it beside the caller, the journal has it,
    /// and nothing is decided by it.
    ///
    /// Errors: those of Evaluate; `org.freedesktop.DBus.Error.InvalidArgs` for an unknown
    /// operation, flags that can't be combined or a requester without a name.
    ///
    /// Source: R60 to R67, R71, L8.
    func evaluateAccessControl(
        accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]>

    /// Gives the context a secret that it would ask for otherwise.
    ///
    /// `credentialType`: 0 application password, -3 smart-card PIN. `secret` has at most 64 KiB.
    ///
    /// Options: `sealed` (b, default false: `secret` is sealed to `Keychain1.SealingKey`, as
    /// `org.localauth.Keychain1` says).
    ///
    /// Result: whether the credential is set now; false for another type and after Invalidate.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for a sealed secret that does not open;
    /// `LimitsExceeded` for a larger secret.
    ///
    /// Source: R31, R37, L32.
    func setCredential(
        credentialType: Int32,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool>

    /// Forgets a credential of the context.
    ///
    /// `credentialType`: 0 application password, -3 smart-card PIN.
    ///
    /// Result: whether the type is known and the context still valid.
    ///
    /// Source: R37.
    func clearCredential(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool>

    /// Says whether the context has a credential of that type.
    ///
    /// `credentialType`: 0 application password, -3 smart-card PIN. False after Invalidate.
    ///
    /// Source: R31, R37.
    func isCredentialSet(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool>

    /// Makes the context unusable.
    ///
    /// A running evaluation ends with `org.localauth.Error.AppCancel`; every later one answers
    /// `org.localauth.Error.InvalidContext`. Properties then read as their defaults. A second call
    /// does nothing.
    ///
    /// Source: R31.
    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Takes the context object away.
    ///
    /// Running evaluations end as with Invalidate; the path is unknown afterwards.
    ///
    /// Source: R32.
    func release(call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Title of the fallback button, for evaluations that start later.
    ///
    /// Never set: the prompt's own title. Set to the empty string: no fallback button. Reads as
    /// empty when it was never set.
    ///
    /// Source: R22.
    func localizedFallbackTitle(for peer: Peer?) throws(DBusError) -> String

    /// Sets `LocalizedFallbackTitle`.
    func setLocalizedFallbackTitle(_ value: String, by peer: Peer) throws(DBusError)

    /// Title of the cancel button, for evaluations that start later.
    ///
    /// Default: empty, the prompt's own title.
    ///
    /// Source: R23.
    func localizedCancelTitle(for peer: Peer?) throws(DBusError) -> String

    /// Sets `LocalizedCancelTitle`.
    func setLocalizedCancelTitle(_ value: String, by peer: Peer) throws(DBusError)

    /// Reason for prompts whose caller gave none, such as keychain reads with this context.
    ///
    /// Default: empty. At most 64 KiB.
    ///
    /// Source: R35.
    func localizedReason(for peer: Peer?) throws(DBusError) -> String

    /// Sets `LocalizedReason`.
    func setLocalizedReason(_ value: String, by peer: Peer) throws(DBusError)

    /// Whether evaluations answer `org.localauth.Error.NotInteractive` instead of a prompt.
    ///
    /// Default: false. Availability errors take precedence.
    ///
    /// Source: R13, R36.
    func interactionNotAllowed(for peer: Peer?) throws(DBusError) -> Bool

    /// Sets `InteractionNotAllowed`.
    func setInteractionNotAllowed(_ value: Bool, by peer: Peer) throws(DBusError)

    /// Age of a biometric device unlock, in seconds, that is accepted in place of a prompt.
    ///
    /// Default: 0, none. Finite and not negative, else InvalidArgs; above 300 behaves as 300.
    ///
    /// Source: R34.
    func reuseDuration(for peer: Peer?) throws(DBusError) -> Double

    /// Sets `ReuseDuration`.
    func setReuseDuration(_ value: Double, by peer: Peer) throws(DBusError)

    /// How long a success stays with this context, in seconds; it counts at once, for what was
    /// proved before as well.
    ///
    /// Default: 600. Finite and not negative, else InvalidArgs; more than the administrator's
    /// `SuccessMinutes` behaves as that. A lock of the screen ends a success, and so do sleep, the
    /// end of the session, and a login manager that is started again.
    ///
    /// Source: R33, R35.
    func successDuration(for peer: Peer?) throws(DBusError) -> Double

    /// Sets `SuccessDuration`.
    func setSuccessDuration(_ value: Double, by peer: Peer) throws(DBusError)

    /// Kept for callers that set it; it has no effect.
    ///
    /// Default: 0.
    ///
    /// Source: R7.
    func maxBiometryFailures(for peer: Peer?) throws(DBusError) -> UInt32

    /// Sets `MaxBiometryFailures`.
    func setMaxBiometryFailures(_ value: UInt32, by peer: Peer) throws(DBusError)

    /// Biometry type of the strongest sensor that is known, available or not.
    ///
    /// Needs no CanEvaluate before.
    ///
    /// Source: R42.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32

    /// Enrolment state as of the last biometric success of this context, 32 bytes; empty is none.
    ///
    /// Set by CanEvaluate or Evaluate of a biometric policy (1, 4), never by policy 2 alone unless
    /// biometry answered it; cleared when an evaluation starts. The same bytes for all apps of a
    /// user while the enrolment stays as it is.
    ///
    /// Source: R40, L12.
    func evaluatedPolicyDomainState(for peer: Peer?) throws(DBusError) -> [UInt8]

    /// Enrolment state now, readable without CanEvaluate.
    ///
    /// Keys: `biometry` (ay) and `combined` (ay, over biometry and companions); each is empty when
    /// nothing is enrolled. A sensor that ended because it was idle is started and asked first,
    /// because it couldn't tell what changed meanwhile.
    ///
    /// Source: R41, L12.
    func domainState(for peer: Peer?) throws(DBusError) -> [String: Variant]
}

/// Serves `org.localauth.Context1` by a `Context1Service`, which it keeps.
public struct Context1Interface: ServedInterface {
    private let service: any Context1Service

    /// Makes the adapter of a service.
    public init(_ service: any Context1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "CanEvaluate": try canEvaluate(call)
        case "Evaluate": try evaluate(call)
        case "EvaluateAccessControl": try evaluateAccessControl(call)
        case "SetCredential": try setCredential(call)
        case "ClearCredential": try clearCredential(call)
        case "IsCredentialSet": try isCredentialSet(call)
        case "Invalidate": try invalidate(call)
        case "Release": try release(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    /// Writes the value of a property.
    public func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        switch property {
        case "LocalizedFallbackTitle": try writer.write(service.localizedFallbackTitle(for: peer))
        case "LocalizedCancelTitle": try writer.write(service.localizedCancelTitle(for: peer))
        case "LocalizedReason": try writer.write(service.localizedReason(for: peer))
        case "InteractionNotAllowed": try writer.write(service.interactionNotAllowed(for: peer))
        case "ReuseDuration": try writer.write(service.reuseDuration(for: peer))
        case "SuccessDuration": try writer.write(service.successDuration(for: peer))
        case "MaxBiometryFailures": try writer.write(service.maxBiometryFailures(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "EvaluatedPolicyDomainState":
            try writer.write(service.evaluatedPolicyDomainState(for: peer))
        case "DomainState": try writer.write(service.domainState(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        switch property {
        case "LocalizedFallbackTitle":
            try service.setLocalizedFallbackTitle(reader.read(String.self), by: peer)
        case "LocalizedCancelTitle":
            try service.setLocalizedCancelTitle(reader.read(String.self), by: peer)
        case "LocalizedReason": try service.setLocalizedReason(reader.read(String.self), by: peer)
        case "InteractionNotAllowed":
            try service.setInteractionNotAllowed(reader.read(Bool.self), by: peer)
        case "ReuseDuration": try service.setReuseDuration(reader.read(Double.self), by: peer)
        case "SuccessDuration": try service.setSuccessDuration(reader.read(Double.self), by: peer)
        case "MaxBiometryFailures":
            try service.setMaxBiometryFailures(reader.read(UInt32.self), by: peer)
        default: throw DBusError(.propertyReadOnly, "The property is read-only.")
        }
    }

    private func canEvaluate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.canEvaluate(policy: input, call: call)
        call.answer(answer, "bis") { (value, writer) throws(DBusError) in
            try writer.write(value.available)
            try writer.write(value.code)
            try writer.write(value.message)
        }
    }

    private func evaluate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("usa{sv}") { (reader) throws(DBusError) in
            (
                policy: try reader.read(UInt32.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.evaluate(
            policy: input.policy,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "a{sv}") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func evaluateAccessControl(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}usa{sv}") { (reader) throws(DBusError) in
            (
                accessControl: try reader.read([String: Variant].self),
                operation: try reader.read(UInt32.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.evaluateAccessControl(
            accessControl: input.accessControl,
            operation: input.operation,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "a{sv}") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func setCredential(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("iaya{sv}") { (reader) throws(DBusError) in
            (
                credentialType: try reader.read(Int32.self),
                secret: try reader.read([UInt8].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.setCredential(
            credentialType: input.credentialType,
            secret: input.secret,
            options: input.options,
            call: call
        )
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func clearCredential(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("i") { (reader) throws(DBusError) in
            try reader.read(Int32.self)
        }
        let answer = try service.clearCredential(credentialType: input, call: call)
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func isCredentialSet(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("i") { (reader) throws(DBusError) in
            try reader.read(Int32.self)
        }
        let answer = try service.isCredentialSet(credentialType: input, call: call)
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func invalidate(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.invalidate(call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func release(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.release(call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }
}

/// Sends the signals of `org.localauth.Context1` from one object.
@BusActor
public struct Context1Signals {
    private let connection: Connection
    private let path: ObjectPath

    /// Makes the sender of the object at a path.
    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    /// Progress of an evaluation, sent to the creator only.
    ///
    /// Kinds and details:
    /// - `prompt-shown`
    /// - `sensor-ready` (`sensor` s, `biometry-type` u)
    /// - `sensor-busy` (`sensor` s, `biometry-type` u, `by` s: another program has the sensor, its
    ///   name or empty; the sensor looks as soon as it is free, and `sensor-ready` comes again)
    /// - `sensor-failed` (`sensor` s, `biometry-type` u, `cause` s: `denied`, `missing` or
    ///   `failed`, `message` s: a sensor gave up; the others and the passcode go on)
    /// - `hint` (`hint` s, as in `org.localauth.Sensor1.Event`)
    /// - `no-match` (`attempts-left` u)
    /// - `fallback-available`
    /// - `confirmation-required`
    /// - `passcode-required` (`cause` s: `boot`, `hours`, `hours-with-biometry`, `remote`,
    ///   `program`, `damaged`, `lockout`, `attempts`, `fallback`, `sensor-failed` (no sensor looks
    ///   any more), `verifier-failed`, `delay-over`, `application-password` or `access-control`;
    ///   `text` s, only with cause `remote`: the administrator's words)
    /// - `passcode-rejected` (`attempts-left` u; `delay` t, the milliseconds in which no passcode
    ///   is taken, where too many were wrong)
    ///
    /// Receivers ignore kinds and keys that they don't know. The verdict is never in it.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        connection.emit(
            path: path,
            interface: Context1.interface,
            member: "Event",
            signature: "sa{sv}",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(kind)
            try writer.write(detail)
        }
    }
}

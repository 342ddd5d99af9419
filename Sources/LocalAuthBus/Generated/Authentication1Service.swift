// Made by dbus-codegen from dbus/org.localauth.Authentication1.xml. Do not edit.
public import DBus

/// Asks whether the person at the machine is its owner.
///
/// The manager object of the daemon: one-shot evaluations, contexts, prompt agents and diagnosis.
/// It is an ObjectManager as well, which lists the sensor objects (`org.localauth.Device1`) and
/// nothing else.
///
/// Policies: 1 biometrics, 2 biometrics or passcode, 3 companion, 4 biometrics or companion.
///
/// Biometry types: 0 none (a sensor of type 0 is a companion), 1 fingerprint, 2 face, 4 iris. A
/// caller that leaves the bus cancels all it had running. Input that is malformed or out of range
/// is answered with `org.freedesktop.DBus.Error.InvalidArgs`, more than a quota allows with
/// `org.freedesktop.DBus.Error.LimitsExceeded`, and every failed look-up of who the caller is with
/// `org.freedesktop.DBus.Error.AccessDenied`.
///
/// Source: L1, L16.
@BusActor
public protocol Authentication1Service: AnyObject {
    /// Says whether a policy could be evaluated now, without a prompt.
    ///
    /// `code` is 0 when available, else the LAError code that Evaluate would start with, and
    /// `message` is one sentence for people (empty when available).
    ///
    /// Codes: -5 PasscodeNotSet, -6 BiometryNotAvailable, -7 BiometryNotEnrolled, -8
    /// BiometryLockout, -11 CompanionNotAvailable, -12 BiometryNotPaired, -13 BiometryDisconnected;
    /// -4 SystemCancel while the service's settings have a mistake. Policy 1 refuses in the order
    /// -6 (or -13), -7, -8, -5.
    ///
    /// It is answered from what sensors and the passcode verifier said last; they are asked behind
    /// the answer, at most once a second for each user, and a difference is told by
    /// PropertiesChanged.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for an unknown policy, never an error for a
    /// known one.
    ///
    /// Source: R4, R10, R12, R14, L11b.
    func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)>

    /// Authenticates the person once, in a context that lives for this call.
    ///
    /// The reply is the verdict: a result when the person was authenticated, else an error.
    /// Progress comes as `Event` signals before it. Inputs are frozen when the call arrives. Call
    /// it without a timeout of the bus library: the deadline is the option `timeout`.
    ///
    /// `reason`: plain text for the prompt, 1 byte to 64 KiB. It must not be empty once invisible
    /// characters, surplus combining marks and spaces are gone; shown up to 512 characters.
    ///
    /// Options:
    /// - `timeout` (t, milliseconds, default 120000, 0 is the default, at most 600000)
    /// - `fallback-title` (s, default: the prompt's own; empty: no fallback button; shown up to 128
    ///   characters)
    /// - `cancel-title` (s, default or empty: the prompt's own; likewise)
    /// - `interaction-not-allowed` (b, default false)
    /// - `reuse-duration` (d, seconds, default 0, finite and not negative, effect capped at 300)
    /// - `sensors` (as, names of the sensors to use, default: all)
    /// - `minimum-strength` (s, `strong`, `weak` or `convenience`, default `convenience`)
    /// - `require-confirmation` (b, default: a face that is not strong is confirmed in the prompt)
    /// - `parent-window` (s, handle of the caller's window, at most 4096 bytes, default none)
    /// - `activation-token` (s, at most 4096 bytes, default none)
    /// - `uid` (u, root only, default the caller's: evaluates for that user, with that user's
    ///   agent, as an unlock)
    ///
    /// Result:
    /// - `mechanism` (s, `biometry`, `passcode`, `companion`, `reuse` or `context`)
    /// - `biometry-type` (u)
    /// - `sensor` (s)
    /// - `strength` (s)
    /// - `domain-state` (ay, only with biometry)
    ///
    /// Errors: `org.localauth.Error.AuthenticationFailed`, `UserCancel`, `UserFallback` (policies
    /// 1, 3 and 4), `SystemCancel`, `PasscodeNotSet`, `BiometryNotAvailable`,
    /// `BiometryNotEnrolled`, `BiometryLockout`, `AppCancel`, `CompanionNotAvailable`,
    /// `BiometryNotPaired`, `BiometryDisconnected`, `NotInteractive`;
    /// `org.freedesktop.DBus.Error.InvalidArgs`, `AccessDenied` (option `uid` from anybody but
    /// root), `LimitsExceeded`.
    ///
    /// Source: R1 to R5, R10 to R13, R20 to R26, R34, L2, L5 to L10.
    func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]>

    /// Says whether Evaluate would show this caller a prompt now, and if not, why.
    ///
    /// It is asked anew, unlike the property `Interactive`, and says nothing of policies: those are
    /// CanEvaluate's. `cause` is empty when a prompt would be shown, else one of `no-session` (the
    /// user has no session at this machine), `other-user` (the caller is in a session of another
    /// user), `inactive`, `locked`, `asleep`, `no-agent` (nothing there shows prompts),
    /// `no-agent-at-machine` (the same, for a caller in no session), `mistake` (the settings have
    /// one, and every evaluation is refused) and `unknown`; `message` and `remedy` are one sentence
    /// each for people. In a remote session a prompt is for the passcode only, as it is for a
    /// caller in no session whose prompt is not known to be at the machine.
    ///
    /// Source: L2, L28, L29.
    func canInteract(
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, cause: String, message: String, remedy: String)>

    /// Ends every one-shot evaluation of this caller.
    ///
    /// Each of them is answered with `org.localauth.Error.AppCancel`. Nothing running: nothing
    /// happens. Contexts are not touched.
    ///
    /// Source: R31.
    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Creates a context, which only this connection sees and calls.
    ///
    /// `properties` are the read-write properties of `org.localauth.Context1` by name:
    /// `LocalizedFallbackTitle` (s), `LocalizedCancelTitle` (s), `LocalizedReason` (s),
    /// `InteractionNotAllowed` (b, default false), `ReuseDuration` (d, seconds, default 0),
    /// `SuccessDuration` (d, seconds, default 600), `MaxBiometryFailures` (u, no effect). The path
    /// ends in a random handle of 128 bits. The context ends with Release or with this connection.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs`; `LimitsExceeded` beyond 256 contexts a
    /// connection or 1024 a user (both configurable).
    ///
    /// Source: R30, R32, R33.
    func createContext(
        properties: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<ObjectPath>

    /// Registers the object of this caller that shows prompts (`org.localauth.Agent1`).
    ///
    /// `agent` has at most 256 bytes. An agent serves its own user only, in its own session. Root's
    /// agent of a process (a PAM module) also shows what root asks of a user there, with option
    /// `uid`, in the session that the process is in, or in any if it is in none. Sessions take one
    /// normal and one fallback agent, processes one; a connection has at most 4. The registration
    /// ends with UnregisterAgent, with the connection, or with the process that it serves.
    ///
    /// Which session that is, the login manager says of the caller's process. An agent in no
    /// session is refused, unless it is a unit of the user's own service manager, without a
    /// terminal, and the user has one desktop at this machine and has had sessions at this machine
    /// alone since that service manager was started: it serves that desktop. Of any other, nothing
    /// shows that its prompts would be at the machine.
    ///
    /// Options:
    /// - `fallback` (b, default false: used only when no other agent is there)
    /// - `process` (u, process id, default: the whole session: serves only that process and its
    ///   children; it must belong to the caller's user, for root to anybody)
    ///
    /// Result: the id of the session that it serves, empty for root's process that is in none.
    ///
    /// Errors: `org.localauth.Error.AgentExists`; `org.freedesktop.DBus.Error.AccessDenied` for a
    /// sandboxed caller, one in no session, or another user's process; `InvalidArgs`;
    /// `LimitsExceeded`.
    ///
    /// Source: L2.
    func registerAgent(
        agent: ObjectPath,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Withdraws an agent of this caller.
    ///
    /// A prompt that it shows ends with `org.localauth.Error.SystemCancel`.
    ///
    /// Errors: `org.freedesktop.DBus.Error.UnknownObject` when this caller has no agent at that
    /// path.
    ///
    /// Source: R25.
    func unregisterAgent(agent: ObjectPath, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Tells that the person pressed the cancel button of a prompt.
    ///
    /// The evaluation ends with `org.localauth.Error.UserCancel`. Only the agent that shows the
    /// prompt may call it.
    ///
    /// Errors: `org.freedesktop.DBus.Error.AccessDenied` for a prompt that is not shown by this
    /// caller.
    ///
    /// Source: R24.
    func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Tells that the person pressed the fallback button of a prompt.
    ///
    /// Under policies 1, 3 and 4 the evaluation ends with `org.localauth.Error.UserFallback`, under
    /// policy 2 it goes on with the passcode. Only the agent that shows the prompt may call it.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` when fallback is not on offer: nothing
    /// changes; `AccessDenied` for a prompt that is not shown by this caller.
    ///
    /// Source: R2, R11, R22, R24, L6.
    func submitFallback(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Tells that the person confirmed a match of a passive sensor.
    ///
    /// Only the agent that shows the prompt may call it.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` when no confirmation is asked for: nothing
    /// changes; `AccessDenied` for a prompt that is not shown by this caller.
    ///
    /// Source: L7.
    func submitConfirm(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Submits an attempt at the login's password, sealed to the verifier.
    ///
    /// `sealed` is HPKE for the `passcode-key` of Begin, as `org.localauth.Passcode1.Verify` says.
    /// The answer comes at once; the verdict comes as Update (`passcode-rejected`) or End. Each
    /// accepted call is one attempt. An agent does not send an empty password.
    ///
    /// Errors, none of which is an attempt: `org.freedesktop.DBus.Error.InvalidArgs` when the
    /// prompt takes no password now, while an attempt is verified, while no password is taken
    /// because too many were wrong, and for fewer than 49 bytes; `LimitsExceeded` for more than
    /// 1072 bytes; `AccessDenied` for a prompt that is not shown by this caller.
    ///
    /// Source: R6, R11, L6, L10, L22, L32.
    func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Submits the app's own password, in the stage `application-password`.
    ///
    /// A prompt takes one password. The result comes as End.
    ///
    /// Options: `sealed` (b, default false: `password` is sealed to `Keychain1.SealingKey`, with
    /// the agent's unique bus name as aad).
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` in any other stage, for a second password,
    /// and for a sealed password that does not open; `LimitsExceeded` for more than 64 KiB;
    /// `AccessDenied` for a prompt that is not shown by this caller.
    ///
    /// Source: L22, L32.
    func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Refuses biometry of a user until the next correct passcode (remote lock).
    ///
    /// A running biometric evaluation stops: policies 1 and 4 end with
    /// `org.localauth.Error.BiometryLockout`, policy 2 goes on with the password. The reply comes
    /// once the requirement is saved.
    ///
    /// From root, or a caller whom polkit's action `org.localauth.require-passcode-others` allows
    /// another user's uid, the cause is `remote`, and `cause` is display text of at most 1024 bytes
    /// that prompts and messages quote, cut to 64 characters. From any other caller, for its own
    /// uid, the cause is `program`, and the text is dropped. `remote` replaces `program`; `program`
    /// replaces nothing.
    ///
    /// Errors: `org.freedesktop.DBus.Error.AccessDenied` for another user's uid without that
    /// permission, and for a sandboxed caller other than root; `InvalidArgs` for a longer text;
    /// `LimitsExceeded` while polkit is asked about another call of the same user.
    ///
    /// Source: R50, L11, L34.
    func requirePasscode(
        uid: UInt32,
        cause: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Tells that a user unlocked the device outside of this service.
    ///
    /// For root only: a PAM module or a screen lock. `method` is `biometry` (opens the reuse
    /// window) or `passcode` (clears the lockout); both count for the age rules. While biometry
    /// waits for a passcode, an unlock by biometry is ignored. The reply comes once the unlock is
    /// saved.
    ///
    /// Errors: `org.freedesktop.DBus.Error.AccessDenied` for anybody but root; `InvalidArgs` for
    /// another method.
    ///
    /// Source: R5, R34, R50, L9, L11.
    func reportUnlock(
        uid: UInt32,
        method: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Sends this caller the signal `Evaluated` from now on, until it leaves the bus.
    ///
    /// Root is told of every evaluation, others of those of their own user. A second call changes
    /// nothing. No option is known yet; unknown ones are ignored.
    ///
    /// Errors: `org.freedesktop.DBus.Error.AccessDenied` for a sandboxed caller; `LimitsExceeded`
    /// beyond 8 connections of a user or 64 in all. Root is never refused.
    ///
    /// Source: L15.
    func monitor(options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Checks what the service depends on, for people and for scripts.
    ///
    /// One entry for each check, with `name` (s), `state` (s, `ok`, `warning` or `failed`),
    /// `message` (s, one sentence) and `remedy` (s, what to do; empty when the state is ok).
    ///
    /// The check `options` has the last names of options that the caller's programs gave and no
    /// method knows, which were ignored; root's also has the last one of each other user. It is
    /// missing where there were none.
    func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]>

    /// Version of the daemon, as in its `--version`.
    func version(for peer: Peer?) throws(DBusError) -> String

    /// Biometry type of the strongest sensor that is known, available or not.
    ///
    /// 0 without any; of equally strong ones the lowest number.
    ///
    /// Source: R42.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32

    /// Biometry types of all known sensors, each once, in ascending order.
    ///
    /// Companions (type 0) are not among them.
    ///
    /// Source: R42, L13.
    func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32]

    /// Whether Evaluate, called now by this caller, would show a prompt: its session is in front
    /// and not locked, and an agent serves it there.
    ///
    /// The answer depends on who asks; a change is announced without the value. The first answer to
    /// a connection waits until it is known where the caller is; what can't be found out reads
    /// false, and is announced when it is. CanInteract asks anew and says why not.
    ///
    /// Source: R36, L2, L28.
    func interactive(for peer: Peer?) throws(DBusError) -> Bool
}

/// Serves `org.localauth.Authentication1` by a `Authentication1Service`, which it keeps.
public struct Authentication1Interface: ServedInterface {
    private let service: any Authentication1Service

    /// Makes the adapter of a service.
    public init(_ service: any Authentication1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "CanEvaluate": try canEvaluate(call)
        case "Evaluate": try evaluate(call)
        case "CanInteract": try canInteract(call)
        case "Invalidate": try invalidate(call)
        case "CreateContext": try createContext(call)
        case "RegisterAgent": try registerAgent(call)
        case "UnregisterAgent": try unregisterAgent(call)
        case "SubmitCancel": try submitCancel(call)
        case "SubmitFallback": try submitFallback(call)
        case "SubmitConfirm": try submitConfirm(call)
        case "SubmitPasscode": try submitPasscode(call)
        case "SubmitPassword": try submitPassword(call)
        case "RequirePasscode": try requirePasscode(call)
        case "ReportUnlock": try reportUnlock(call)
        case "Monitor": try monitor(call)
        case "Diagnose": try diagnose(call)
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
        case "Version": try writer.write(service.version(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "BiometryTypes": try writer.write(service.biometryTypes(for: peer))
        case "Interactive": try writer.write(service.interactive(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
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

    private func canInteract(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.canInteract(call: call)
        call.answer(answer, "bsss") { (value, writer) throws(DBusError) in
            try writer.write(value.available)
            try writer.write(value.cause)
            try writer.write(value.message)
            try writer.write(value.remedy)
        }
    }

    private func invalidate(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.invalidate(call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func createContext(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
        let answer = try service.createContext(properties: input, call: call)
        call.answer(answer, "o") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func registerAgent(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("oa{sv}") { (reader) throws(DBusError) in
            (
                agent: try reader.read(ObjectPath.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.registerAgent(
            agent: input.agent,
            options: input.options,
            call: call
        )
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func unregisterAgent(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("o") { (reader) throws(DBusError) in
            try reader.read(ObjectPath.self)
        }
        let answer = try service.unregisterAgent(agent: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func submitCancel(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        let answer = try service.submitCancel(prompt: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func submitFallback(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        let answer = try service.submitFallback(prompt: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func submitConfirm(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        let answer = try service.submitConfirm(prompt: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func submitPasscode(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("say") { (reader) throws(DBusError) in
            (prompt: try reader.read(String.self), sealed: try reader.read([UInt8].self))
        }
        let answer = try service.submitPasscode(
            prompt: input.prompt,
            sealed: input.sealed,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func submitPassword(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("saya{sv}") { (reader) throws(DBusError) in
            (
                prompt: try reader.read(String.self),
                password: try reader.read([UInt8].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.submitPassword(
            prompt: input.prompt,
            password: input.password,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func requirePasscode(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("us") { (reader) throws(DBusError) in
            (uid: try reader.read(UInt32.self), cause: try reader.read(String.self))
        }
        let answer = try service.requirePasscode(uid: input.uid, cause: input.cause, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func reportUnlock(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("us") { (reader) throws(DBusError) in
            (uid: try reader.read(UInt32.self), method: try reader.read(String.self))
        }
        let answer = try service.reportUnlock(uid: input.uid, method: input.method, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func monitor(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
        let answer = try service.monitor(options: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func diagnose(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.diagnose(call: call)
        call.answer(answer, "aa{sv}") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }
}

/// Sends the signals of `org.localauth.Authentication1` from one object.
@BusActor
public struct Authentication1Signals {
    private let connection: Connection
    private let path: ObjectPath

    /// Makes the sender of the object at a path.
    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    /// Progress of a one-shot evaluation, sent to its caller only.
    ///
    /// The kinds and details are those of `org.localauth.Context1.Event`; each detail has `call`
    /// (u, the serial of the Evaluate message) as well.
    ///
    /// Receivers ignore kinds and keys that they don't know. The verdict is never in it.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        connection.emit(
            path: path,
            interface: Authentication1.interface,
            member: "Event",
            signature: "sa{sv}",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(kind)
            try writer.write(detail)
        }
    }

    /// How an evaluation ended, sent to those who called Monitor only.
    ///
    /// Record:
    /// - `time` (t, microseconds since 1970)
    /// - `uid` (u, who was to be authenticated)
    /// - `session` (s, only when it is known)
    /// - `app-name` (s, empty: none could be proved), `process` (s, the program's file name, or
    ///   what the process calls itself), `pid` (u)
    /// - `policy` (u)
    /// - `outcome` (s, `Success`, or the name of the error without its prefix)
    /// - `mechanism` (s, only with success), `sensor` (s, only with one)
    /// - `attempts` (u, failed attempts before it ended)
    ///
    /// Never the reason, a secret, a template or a score. Receivers ignore keys that they don't
    /// know.
    ///
    /// Source: L15.
    public func evaluated(record: [String: Variant], to destination: String) {
        connection.emit(
            path: path,
            interface: Authentication1.interface,
            member: "Evaluated",
            signature: "a{sv}",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(record)
        }
    }
}

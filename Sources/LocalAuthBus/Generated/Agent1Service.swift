// Made by dbus-codegen from dbus/org.localauth.Agent1.xml. Do not edit.
public import DBus

/// A prompt agent: shows what is asked, and takes it down again.
///
/// Implemented by a process of the person's session at a path that it chooses and gives to
/// `org.localauth.Authentication1.RegisterAgent`; called by the daemon only. The agent reports what
/// the person does with SubmitCancel, SubmitFallback, SubmitConfirm, SubmitPasscode and
/// SubmitPassword. `prompt` is a random handle of 128 bits.
///
/// Source: R21 to R26, L9, L14, L22.
@BusActor
public protocol Agent1Service: AnyObject {
    /// Shows a prompt.
    ///
    /// The agent answers as soon as it has taken the prompt on. An agent that does not answer
    /// within 5 s, or answers with an error, has failed.
    ///
    /// Details:
    /// - `reason` (s, untrusted display text of at most 512 characters: no invisible characters, at
    ///   most 2 combining marks behind a base character)
    /// - `policy` (u)
    /// - `stage` (s, `biometry`, `passcode` or `application-password`)
    /// - `passcode-key` (ay, 32 bytes, the verifier's SealingKey; absent where the prompt never
    ///   takes a password of the login)
    /// - `pid` (u, the caller's process), `user` (s, the user's name)
    /// - `sandboxed` (b, false only when the service can show that the caller is in no sandbox)
    /// - `sandbox-id` (s, the Flatpak or snap id of the caller; absent: unknown)
    /// - `app-name`, `app-icon`, `app-id` (s, of the app with that `sandbox-id`; absent without it)
    /// - `requester` (s, on whose behalf the caller says that it asks, untrusted; absent: nobody)
    /// - `requester-pid` (u, the requester's process by the same word; 0: not told)
    /// - `biometry-types` (au)
    /// - `sensors` (as), `sensor-types` (au, of each of them)
    /// - `instructions` (a{sv}, by the name of a sensor: a{ss}, by language the sensor's own words
    ///   for what a person is asked to do)
    /// - `cancel-title` (s, absent: default)
    /// - `fallback-title` (s, absent: default; empty: no button)
    /// - `require-confirmation` (b)
    /// - `parent-window` (s)
    /// - `activation-token` (s)
    ///
    /// Unknown keys are ignored.
    ///
    /// Source: R21 to R23, L14, L32, L33, L35.
    func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Tells what happens while a prompt is up.
    ///
    /// The kinds and details are those of `org.localauth.Context1.Event`, and:
    /// - `success`
    /// - `application-password-required`: from now on only SubmitPassword is taken, and the agent
    ///   drops what was typed so far
    /// - `passcode-required` has `passcode-key` (ay) as well where the key is another than before
    ///
    /// Not waited for; unknown kinds are ignored.
    ///
    /// Source: L22, L32.
    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Takes a prompt down.
    ///
    /// `outcome` is `success`, `failed`, `canceled`, `fallback`, `lockout` or `system`. Not waited
    /// for.
    func end(prompt: String, outcome: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
}

/// Serves `org.localauth.Agent1` by a `Agent1Service`, which it keeps.
public struct Agent1Interface: ServedInterface {
    private let service: any Agent1Service

    /// Makes the adapter of a service.
    public init(_ service: any Agent1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Begin": try begin(call)
        case "Update": try update(call)
        case "End": try end(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    /// Writes the value of a property.
    public func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func begin(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("sa{sv}") { (reader) throws(DBusError) in
            (prompt: try reader.read(String.self), details: try reader.read([String: Variant].self))
        }
        let answer = try service.begin(prompt: input.prompt, details: input.details, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func update(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssa{sv}") { (reader) throws(DBusError) in
            (
                prompt: try reader.read(String.self),
                kind: try reader.read(String.self),
                detail: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.update(
            prompt: input.prompt,
            kind: input.kind,
            detail: input.detail,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func end(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ss") { (reader) throws(DBusError) in
            (prompt: try reader.read(String.self), outcome: try reader.read(String.self))
        }
        let answer = try service.end(prompt: input.prompt, outcome: input.outcome, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }
}

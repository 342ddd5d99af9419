// Made by dbus-codegen from dbus/org.localauth.Agent1.xml. Do not edit.
public import DBus
public import Linux

/// A prompt agent: shows what is asked, and takes it down again.
///
/// Implemented by a process of the person's session at a path that it chooses and gives to
/// `org.localauth.Authentication1.RegisterAgent`; called by the daemon only. What the person does
/// goes back through SubmitCancel, SubmitFallback and SubmitConfirm; a passcode goes through the
/// descriptor of Begin and never crosses the bus. `prompt` is a random handle of 128 bits.
///
/// Source: R21 to R26, L9, L14.
@BusActor
public protocol Agent1Service: AnyObject {
    /// Shows a prompt.
    ///
    /// The agent answers as soon as it has taken the prompt on. One that doesn't within 5 s, or
    /// answers with an error, counts as failed. `passcode` is the agent's end of a SOCK_SEQPACKET
    /// pair made by the daemon: one packet is one passcode attempt, and packets from other
    /// processes are dropped. Where the stage is `application-password`, a packet is the app's own
    /// password, and the daemon reads it itself.
    ///
    /// Details:
    /// - `app-name` (s, empty: the daemon could prove none; an agent looks up what it shows by
    ///   `pid`, and says that nobody vouches for it)
    /// - `app-icon` (s, likewise)
    /// - `app-verified` (b, a sandbox vouches for the app)
    /// - `app-id` (s)
    /// - `process` (s, the program's file name, or what the process calls itself)
    /// - `pid` (u)
    /// - `requester` (s, absent: nobody; on whose behalf the app says that it asks, untrusted plain
    ///   text: an agent shows it beside the app and says that it is the app's word)
    /// - `requester-pid` (u, its process as the app says; 0: not told)
    /// - `user` (s)
    /// - `reason` (s, untrusted plain text, stripped and at most 512 characters)
    /// - `policy` (u)
    /// - `stage` (s, `biometry`, `passcode` or `application-password`)
    /// - `biometry-types` (au)
    /// - `sensors` (as), `sensor-types` (au, of each of them)
    /// - `instructions` (a{sv}, by the name of a sensor: a{ss}, by language what a person is asked
    ///   to do, in the sensor's own words; those that have none are not in it)
    /// - `cancel-title` (s, absent: default)
    /// - `fallback-title` (s, absent: default; empty: no button)
    /// - `require-confirmation` (b)
    /// - `parent-window` (s)
    /// - `activation-token` (s)
    ///
    /// Unknown keys are ignored.
    ///
    /// Source: R21 to R23, L14.
    func begin(
        prompt: String,
        details: [String: Variant],
        passcode: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Tells what happens while a prompt is up.
    ///
    /// The kinds and details are those of `org.localauth.Context1.Event`, `success`, and
    /// `application-password-required` (`channel` h): from then on the answer is the app's own
    /// password and goes to that channel, one packet; what still comes on the one of Begin is never
    /// read as one, and what was typed so far is dropped. Not waited for; unknown kinds are
    /// ignored.
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
        let input = try call.read("sa{sv}h") { (reader) throws(DBusError) in
            (
                prompt: try reader.read(String.self),
                details: try reader.read([String: Variant].self),
                passcode: try reader.read(OwnedDescriptor.self)
            )
        }
        let answer = try service.begin(
            prompt: input.prompt,
            details: input.details,
            passcode: input.passcode,
            call: call
        )
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

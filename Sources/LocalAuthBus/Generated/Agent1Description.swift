// Made by dbus-codegen from dbus/org.localauth.Agent1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Agent1`.
public enum Agent1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Agent1"
}

extension Agent1Interface {
    /// The members of `org.localauth.Agent1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Agent1.interface,
        methods: [
            "Begin": .init(name: "Begin", input: "sa{sv}", output: ""),
            "Update": .init(name: "Update", input: "ssa{sv}", output: ""),
            "End": .init(name: "End", input: "ss", output: ""),
        ],
        properties: [],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Agent1">
      <annotation name="org.gtk.GDBus.DocString" value="A prompt agent: shows what is asked, and \
    takes it down again.&#10;&#10;Implemented by a process of the person's session at a path that \
    it chooses and gives to `org.localauth.Authentication1.RegisterAgent`; called by the daemon \
    only. The agent reports what the person does with SubmitCancel, SubmitFallback, SubmitConfirm, \
    SubmitPasscode and SubmitPassword. `prompt` is a random handle of 128 bits.&#10;&#10;Source: \
    R21 to R26, L9, L14, L22."/>
      <method name="Begin">
        <annotation name="org.gtk.GDBus.DocString" value="Shows a prompt.&#10;&#10;The agent \
    answers as soon as it has taken the prompt on. An agent that does not answer within 5 s, or \
    answers with an error, has failed.&#10;&#10;Details:&#10;- `reason` (s, untrusted display text \
    of at most 512 characters: no invisible characters, at most 2 combining marks behind a base \
    character)&#10;- `policy` (u)&#10;- `stage` (s, `biometry`, `passcode` or \
    `application-password`)&#10;- `passcode-key` (ay, 32 bytes, the verifier's SealingKey; absent \
    where the prompt never takes a password of the login)&#10;- `pid` (u, the caller's process), \
    `user` (s, the user's name)&#10;- `sandboxed` (b, false only when the service can show that \
    the caller is in no sandbox)&#10;- `sandbox-id` (s, the Flatpak or snap id of the caller; \
    absent: unknown)&#10;- `app-name`, `app-icon`, `app-id` (s, of the app with that `sandbox-id`; \
    absent without it)&#10;- `requester` (s, on whose behalf the caller says that it asks, \
    untrusted; absent: nobody)&#10;- `requester-pid` (u, the requester's process by the same word; \
    0: not told)&#10;- `biometry-types` (au)&#10;- `sensors` (as), `sensor-types` (au, of each of \
    them)&#10;- `instructions` (a{sv}, by the name of a sensor: a{ss}, by language the sensor's \
    own words for what a person is asked to do)&#10;- `cancel-title` (s, absent: default)&#10;- \
    `fallback-title` (s, absent: default; empty: no button)&#10;- `require-confirmation` (b)&#10;- \
    `parent-window` (s)&#10;- `activation-token` (s)&#10;&#10;Unknown keys are \
    ignored.&#10;&#10;Source: R21 to R23, L14, L32, L33, L35."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="details" type="a{sv}" direction="in"/>
      </method>
      <method name="Update">
        <annotation name="org.gtk.GDBus.DocString" value="Tells what happens while a prompt is \
    up.&#10;&#10;The kinds and details are those of `org.localauth.Context1.Event`, and:&#10;- \
    `success`&#10;- `application-password-required`: from now on only SubmitPassword is taken, and \
    the agent drops what was typed so far&#10;- `passcode-required` has `passcode-key` (ay) as \
    well where the key is another than before&#10;&#10;Not waited for; unknown kinds are \
    ignored.&#10;&#10;Source: L22, L32."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="kind" type="s" direction="in"/>
        <arg name="detail" type="a{sv}" direction="in"/>
      </method>
      <method name="End">
        <annotation name="org.gtk.GDBus.DocString" value="Takes a prompt down.&#10;&#10;`outcome` \
    is `success`, `failed`, `canceled`, `fallback`, `lockout` or `system`. Not waited for."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="outcome" type="s" direction="in"/>
      </method>
    </interface>
    """

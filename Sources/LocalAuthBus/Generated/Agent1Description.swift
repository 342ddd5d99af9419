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
            "Begin": .init(name: "Begin", input: "sa{sv}h", output: ""),
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
    only. What the person does goes back through SubmitCancel, SubmitFallback and SubmitConfirm; a \
    passcode goes through the descriptor of Begin and never crosses the bus. `prompt` is a random \
    handle of 128 bits.&#10;&#10;Source: R21 to R26, L9, L14."/>
      <method name="Begin">
        <annotation name="org.gtk.GDBus.DocString" value="Shows a prompt.&#10;&#10;The agent \
    answers as soon as it has taken the prompt on. One that doesn't within 5 s, or answers with an \
    error, counts as failed. `passcode` is the agent's end of a SOCK_SEQPACKET pair made by the \
    daemon: one packet is one passcode attempt, and packets from other processes are dropped. \
    Where the stage is `application-password`, a packet is the app's own password, and the daemon \
    reads it itself.&#10;&#10;Details:&#10;- `app-name` (s, empty: the daemon could prove none; an \
    agent looks up what it shows by `pid`, and says that nobody vouches for it)&#10;- `app-icon` \
    (s, likewise)&#10;- `app-verified` (b, a sandbox vouches for the app)&#10;- `app-id` (s)&#10;- \
    `process` (s, the program's file name, or what the process calls itself)&#10;- `pid` (u)&#10;- \
    `requester` (s, absent: nobody; on whose behalf the app says that it asks, untrusted plain \
    text: an agent shows it beside the app and says that it is the app's word)&#10;- \
    `requester-pid` (u, its process as the app says; 0: not told)&#10;- `user` (s)&#10;- `reason` \
    (s, untrusted plain text, stripped and at most 512 characters)&#10;- `policy` (u)&#10;- \
    `stage` (s, `biometry`, `passcode` or `application-password`)&#10;- `biometry-types` \
    (au)&#10;- `sensors` (as), `sensor-types` (au, of each of them)&#10;- `instructions` (a{sv}, \
    by the name of a sensor: a{ss}, by language what a person is asked to do, in the sensor's own \
    words; those that have none are not in it)&#10;- `cancel-title` (s, absent: default)&#10;- \
    `fallback-title` (s, absent: default; empty: no button)&#10;- `require-confirmation` (b)&#10;- \
    `parent-window` (s)&#10;- `activation-token` (s)&#10;&#10;Unknown keys are \
    ignored.&#10;&#10;Source: R21 to R23, L14."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="details" type="a{sv}" direction="in"/>
        <arg name="passcode" type="h" direction="in"/>
      </method>
      <method name="Update">
        <annotation name="org.gtk.GDBus.DocString" value="Tells what happens while a prompt is \
    up.&#10;&#10;The kinds and details are those of `org.localauth.Context1.Event`, `success`, and \
    `application-password-required` (`channel` h): from then on the answer is the app's own \
    password and goes to that channel, one packet; what still comes on the one of Begin is never \
    read as one, and what was typed so far is dropped. Not waited for; unknown kinds are \
    ignored."/>
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

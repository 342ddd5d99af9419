// Made by dbus-codegen from dbus/org.localauth.Authentication1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Authentication1`.
public enum Authentication1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Authentication1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Authentication1")

    /// The bus name of the program that has the object.
    public static let busName = "org.localauth.Authentication1"
}

extension Authentication1Interface {
    /// The members of `org.localauth.Authentication1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Authentication1.interface,
        methods: [
            "CanEvaluate": .init(name: "CanEvaluate", input: "u", output: "bis"),
            "Evaluate": .init(name: "Evaluate", input: "usa{sv}", output: "a{sv}"),
            "CanInteract": .init(name: "CanInteract", input: "", output: "bsss"),
            "Invalidate": .init(name: "Invalidate", input: "", output: ""),
            "CreateContext": .init(name: "CreateContext", input: "a{sv}", output: "o"),
            "RegisterAgent": .init(name: "RegisterAgent", input: "oa{sv}", output: "s"),
            "UnregisterAgent": .init(name: "UnregisterAgent", input: "o", output: ""),
            "SubmitCancel": .init(name: "SubmitCancel", input: "s", output: ""),
            "SubmitFallback": .init(name: "SubmitFallback", input: "s", output: ""),
            "SubmitConfirm": .init(name: "SubmitConfirm", input: "s", output: ""),
            "SubmitPasscode": .init(
                name: "SubmitPasscode",
                input: "say",
                output: "",
                isSensitive: true
            ),
            "SubmitPassword": .init(
                name: "SubmitPassword",
                input: "saya{sv}",
                output: "",
                isSensitive: true
            ),
            "RequirePasscode": .init(name: "RequirePasscode", input: "us", output: ""),
            "ReportUnlock": .init(name: "ReportUnlock", input: "us", output: ""),
            "Monitor": .init(name: "Monitor", input: "a{sv}", output: ""),
            "Diagnose": .init(name: "Diagnose", input: "", output: "aa{sv}"),
        ],
        properties: [
            .init(name: "Version", signature: "s", isWritable: false, change: .constant),
            .init(name: "BiometryType", signature: "u", isWritable: false, change: .value),
            .init(name: "BiometryTypes", signature: "au", isWritable: false, change: .value),
            .init(name: "Interactive", signature: "b", isWritable: false, change: .invalidates),
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Authentication1">
      <annotation name="org.gtk.GDBus.DocString" value="Asks whether the person at the machine is \
    its owner.&#10;&#10;The manager object of the daemon: one-shot evaluations, contexts, prompt \
    agents and diagnosis. It is an ObjectManager as well, which lists the sensor objects \
    (`org.localauth.Device1`) and nothing else.&#10;&#10;Policies: 1 biometrics, 2 biometrics or \
    passcode, 3 companion, 4 biometrics or companion.&#10;&#10;Biometry types: 0 none (a sensor of \
    type 0 is a companion), 1 fingerprint, 2 face, 4 iris. A caller that leaves the bus cancels \
    all it had running. Input that is malformed or out of range is answered with \
    `org.freedesktop.DBus.Error.InvalidArgs`, more than a quota allows with \
    `org.freedesktop.DBus.Error.LimitsExceeded`, and every failed look-up of who the caller is \
    with `org.freedesktop.DBus.Error.AccessDenied`.&#10;&#10;Source: L1, L16."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Error.AuthenticationFailed&#10; org.localauth.Error.UserCancel&#10; \
    org.localauth.Error.UserFallback&#10; org.localauth.Error.SystemCancel&#10; \
    org.localauth.Error.PasscodeNotSet&#10; org.localauth.Error.BiometryNotAvailable&#10; \
    org.localauth.Error.BiometryNotEnrolled&#10; org.localauth.Error.BiometryLockout&#10; \
    org.localauth.Error.AppCancel&#10; org.localauth.Error.InvalidContext&#10; \
    org.localauth.Error.CompanionNotAvailable&#10; org.localauth.Error.BiometryNotPaired&#10; \
    org.localauth.Error.BiometryDisconnected&#10; org.localauth.Error.InvalidDimensions&#10; \
    org.localauth.Error.NotInteractive&#10; org.localauth.Error.AgentExists"/>
      <method name="CanEvaluate">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether a policy could be evaluated \
    now, without a prompt.&#10;&#10;`code` is 0 when available, else the LAError code that \
    Evaluate would start with, and `message` is one sentence for people (empty when \
    available).&#10;&#10;Codes: -5 PasscodeNotSet, -6 BiometryNotAvailable, -7 \
    BiometryNotEnrolled, -8 BiometryLockout, -11 CompanionNotAvailable, -12 BiometryNotPaired, -13 \
    BiometryDisconnected; -4 SystemCancel while the service's settings have a mistake. Policy 1 \
    refuses in the order -6 (or -13), -7, -8, -5.&#10;&#10;It is answered from what sensors and \
    the passcode verifier said last; they are asked behind the answer, at most once a second for \
    each user, and a difference is told by PropertiesChanged.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` for an unknown policy, never an error for a known \
    one.&#10;&#10;Source: R4, R10, R12, R14, L11b."/>
        <arg name="policy" type="u" direction="in"/>
        <arg name="available" type="b" direction="out"/>
        <arg name="code" type="i" direction="out"/>
        <arg name="message" type="s" direction="out"/>
      </method>
      <method name="Evaluate">
        <annotation name="org.localauth.Stream" value="call"/>
        <annotation name="org.gtk.GDBus.DocString" value="Authenticates the person once, in a \
    context that lives for this call.&#10;&#10;The reply is the verdict: a result when the person \
    was authenticated, else an error. Progress comes as `Event` signals before it. Inputs are \
    frozen when the call arrives. Call it without a timeout of the bus library: the deadline is \
    the option `timeout`.&#10;&#10;`reason`: plain text for the prompt, 1 byte to 64 KiB. It must \
    not be empty once invisible characters, surplus combining marks and spaces are gone; shown up \
    to 512 characters.&#10;&#10;Options:&#10;- `timeout` (t, milliseconds, default 120000, 0 is \
    the default, at most 600000)&#10;- `fallback-title` (s, default: the prompt's own; empty: no \
    fallback button; shown up to 128 characters)&#10;- `cancel-title` (s, default or empty: the \
    prompt's own; likewise)&#10;- `interaction-not-allowed` (b, default false)&#10;- \
    `reuse-duration` (d, seconds, default 0, finite and not negative, effect capped at 300)&#10;- \
    `sensors` (as, names of the sensors to use, default: all)&#10;- `minimum-strength` (s, \
    `strong`, `weak` or `convenience`, default `convenience`)&#10;- `require-confirmation` (b, \
    default: a face that is not strong is confirmed in the prompt)&#10;- `parent-window` (s, \
    handle of the caller's window, at most 4096 bytes, default none)&#10;- `activation-token` (s, \
    at most 4096 bytes, default none)&#10;- `uid` (u, root only, default the caller's: evaluates \
    for that user, with that user's agent, as an unlock)&#10;&#10;Result:&#10;- `mechanism` (s, \
    `biometry`, `passcode`, `companion`, `reuse` or `context`)&#10;- `biometry-type` (u)&#10;- \
    `sensor` (s)&#10;- `strength` (s)&#10;- `domain-state` (ay, only with \
    biometry)&#10;&#10;Errors: `org.localauth.Error.AuthenticationFailed`, `UserCancel`, \
    `UserFallback` (policies 1, 3 and 4), `SystemCancel`, `PasscodeNotSet`, \
    `BiometryNotAvailable`, `BiometryNotEnrolled`, `BiometryLockout`, `AppCancel`, \
    `CompanionNotAvailable`, `BiometryNotPaired`, `BiometryDisconnected`, `NotInteractive`; \
    `org.freedesktop.DBus.Error.InvalidArgs`, `AccessDenied` (option `uid` from anybody but root), \
    `LimitsExceeded`.&#10;&#10;Source: R1 to R5, R10 to R13, R20 to R26, R34, L2, L5 to L10."/>
        <arg name="policy" type="u" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="result" type="a{sv}" direction="out"/>
      </method>
      <method name="CanInteract">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether Evaluate would show this \
    caller a prompt now, and if not, why.&#10;&#10;It is asked anew, unlike the property \
    `Interactive`, and says nothing of policies: those are CanEvaluate's. `cause` is empty when a \
    prompt would be shown, else one of `no-session` (the user has no session at this machine), \
    `other-user` (the caller is in a session of another user), `inactive`, `locked`, `asleep`, \
    `no-agent` (nothing there shows prompts), `no-agent-at-machine` (the same, for a caller in no \
    session), `mistake` (the settings have one, and every evaluation is refused) and `unknown`; \
    `message` and `remedy` are one sentence each for people. In a remote session a prompt is for \
    the passcode only, as it is for a caller in no session whose prompt is not known to be at the \
    machine.&#10;&#10;Source: L2, L28, L29."/>
        <arg name="available" type="b" direction="out"/>
        <arg name="cause" type="s" direction="out"/>
        <arg name="message" type="s" direction="out"/>
        <arg name="remedy" type="s" direction="out"/>
      </method>
      <method name="Invalidate">
        <annotation name="org.gtk.GDBus.DocString" value="Ends every one-shot evaluation of this \
    caller.&#10;&#10;Each of them is answered with `org.localauth.Error.AppCancel`. Nothing \
    running: nothing happens. Contexts are not touched.&#10;&#10;Source: R31."/>
      </method>
      <method name="CreateContext">
        <annotation name="org.gtk.GDBus.DocString" value="Creates a context, which only this \
    connection sees and calls.&#10;&#10;`properties` are the read-write properties of \
    `org.localauth.Context1` by name: `LocalizedFallbackTitle` (s), `LocalizedCancelTitle` (s), \
    `LocalizedReason` (s), `InteractionNotAllowed` (b, default false), `ReuseDuration` (d, \
    seconds, default 0), `SuccessDuration` (d, seconds, default 600), `MaxBiometryFailures` (u, no \
    effect). The path ends in a random handle of 128 bits. The context ends with Release or with \
    this connection.&#10;&#10;Errors: `org.freedesktop.DBus.Error.InvalidArgs`; `LimitsExceeded` \
    beyond 256 contexts a connection or 1024 a user (both configurable).&#10;&#10;Source: R30, \
    R32, R33."/>
        <arg name="properties" type="a{sv}" direction="in"/>
        <arg name="context" type="o" direction="out"/>
      </method>
      <method name="RegisterAgent">
        <annotation name="org.gtk.GDBus.DocString" value="Registers the object of this caller that \
    shows prompts (`org.localauth.Agent1`).&#10;&#10;`agent` has at most 256 bytes. An agent \
    serves its own user only, in its own session. Root's agent of a process (a PAM module) also \
    shows what root asks of a user there, with option `uid`, in the session that the process is \
    in, or in any if it is in none. Sessions take one normal and one fallback agent, processes \
    one; a connection has at most 4. The registration ends with UnregisterAgent, with the \
    connection, or with the process that it serves.&#10;&#10;Which session that is, the login \
    manager says of the caller's process. An agent in no session is refused, unless it is a unit \
    of the user's own service manager, without a terminal, and the user has one desktop at this \
    machine and has had sessions at this machine alone since that service manager was started: it \
    serves that desktop. Of any other, nothing shows that its prompts would be at the \
    machine.&#10;&#10;Options:&#10;- `fallback` (b, default false: used only when no other agent \
    is there)&#10;- `process` (u, process id, default: the whole session: serves only that process \
    and its children; it must belong to the caller's user, for root to anybody)&#10;&#10;Result: \
    the id of the session that it serves, empty for root's process that is in \
    none.&#10;&#10;Errors: `org.localauth.Error.AgentExists`; \
    `org.freedesktop.DBus.Error.AccessDenied` for a sandboxed caller, one in no session, or \
    another user's process; `InvalidArgs`; `LimitsExceeded`.&#10;&#10;Source: L2."/>
        <arg name="agent" type="o" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="session" type="s" direction="out"/>
      </method>
      <method name="UnregisterAgent">
        <annotation name="org.gtk.GDBus.DocString" value="Withdraws an agent of this \
    caller.&#10;&#10;A prompt that it shows ends with \
    `org.localauth.Error.SystemCancel`.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.UnknownObject` when this caller has no agent at that \
    path.&#10;&#10;Source: R25."/>
        <arg name="agent" type="o" direction="in"/>
      </method>
      <method name="SubmitCancel">
        <annotation name="org.gtk.GDBus.DocString" value="Tells that the person pressed the cancel \
    button of a prompt.&#10;&#10;The evaluation ends with `org.localauth.Error.UserCancel`. Only \
    the agent that shows the prompt may call it.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.AccessDenied` for a prompt that is not shown by this \
    caller.&#10;&#10;Source: R24."/>
        <arg name="prompt" type="s" direction="in"/>
      </method>
      <method name="SubmitFallback">
        <annotation name="org.gtk.GDBus.DocString" value="Tells that the person pressed the \
    fallback button of a prompt.&#10;&#10;Under policies 1, 3 and 4 the evaluation ends with \
    `org.localauth.Error.UserFallback`, under policy 2 it goes on with the passcode. Only the \
    agent that shows the prompt may call it.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` when fallback is not on offer: nothing changes; \
    `AccessDenied` for a prompt that is not shown by this caller.&#10;&#10;Source: R2, R11, R22, \
    R24, L6."/>
        <arg name="prompt" type="s" direction="in"/>
      </method>
      <method name="SubmitConfirm">
        <annotation name="org.gtk.GDBus.DocString" value="Tells that the person confirmed a match \
    of a passive sensor.&#10;&#10;Only the agent that shows the prompt may call \
    it.&#10;&#10;Errors: `org.freedesktop.DBus.Error.InvalidArgs` when no confirmation is asked \
    for: nothing changes; `AccessDenied` for a prompt that is not shown by this \
    caller.&#10;&#10;Source: L7."/>
        <arg name="prompt" type="s" direction="in"/>
      </method>
      <method name="SubmitPasscode">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Submits an attempt at the login's \
    password, sealed to the verifier.&#10;&#10;`sealed` is HPKE for the `passcode-key` of Begin, \
    as `org.localauth.Passcode1.Verify` says. The answer comes at once; the verdict comes as \
    Update (`passcode-rejected`) or End. Each accepted call is one attempt. An agent does not send \
    an empty password.&#10;&#10;Errors, none of which is an attempt: \
    `org.freedesktop.DBus.Error.InvalidArgs` when the prompt takes no password now, while an \
    attempt is verified, while no password is taken because too many were wrong, and for fewer \
    than 49 bytes; `LimitsExceeded` for more than 1072 bytes; `AccessDenied` for a prompt that is \
    not shown by this caller.&#10;&#10;Source: R6, R11, L6, L10, L22, L32."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="sealed" type="ay" direction="in"/>
      </method>
      <method name="SubmitPassword">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Submits the app's own password, in the \
    stage `application-password`.&#10;&#10;A prompt takes one password. The result comes as \
    End.&#10;&#10;Options: `sealed` (b, default false: `password` is sealed to \
    `Keychain1.SealingKey`, with the agent's unique bus name as aad).&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` in any other stage, for a second password, and for a \
    sealed password that does not open; `LimitsExceeded` for more than 64 KiB; `AccessDenied` for \
    a prompt that is not shown by this caller.&#10;&#10;Source: L22, L32."/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="password" type="ay" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="RequirePasscode">
        <annotation name="org.gtk.GDBus.DocString" value="Refuses biometry of a user until the \
    next correct passcode (remote lock).&#10;&#10;A running biometric evaluation stops: policies 1 \
    and 4 end with `org.localauth.Error.BiometryLockout`, policy 2 goes on with the password. The \
    reply comes once the requirement is saved.&#10;&#10;From root, or a caller whom polkit's \
    action `org.localauth.require-passcode-others` allows another user's uid, the cause is \
    `remote`, and `cause` is display text of at most 1024 bytes that prompts and messages quote, \
    cut to 64 characters. From any other caller, for its own uid, the cause is `program`, and the \
    text is dropped. `remote` replaces `program`; `program` replaces nothing.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.AccessDenied` for another user's uid without that permission, and \
    for a sandboxed caller other than root; `InvalidArgs` for a longer text; `LimitsExceeded` \
    while polkit is asked about another call of the same user.&#10;&#10;Source: R50, L11, L34."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="cause" type="s" direction="in"/>
      </method>
      <method name="ReportUnlock">
        <annotation name="org.gtk.GDBus.DocString" value="Tells that a user unlocked the device \
    outside of this service.&#10;&#10;For root only: a PAM module or a screen lock. `method` is \
    `biometry` (opens the reuse window) or `passcode` (clears the lockout); both count for the age \
    rules. While biometry waits for a passcode, an unlock by biometry is ignored. The reply comes \
    once the unlock is saved.&#10;&#10;Errors: `org.freedesktop.DBus.Error.AccessDenied` for \
    anybody but root; `InvalidArgs` for another method.&#10;&#10;Source: R5, R34, R50, L9, L11."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="method" type="s" direction="in"/>
      </method>
      <method name="Monitor">
        <annotation name="org.gtk.GDBus.DocString" value="Sends this caller the signal `Evaluated` \
    from now on, until it leaves the bus.&#10;&#10;Root is told of every evaluation, others of \
    those of their own user. A second call changes nothing. No option is known yet; unknown ones \
    are ignored.&#10;&#10;Errors: `org.freedesktop.DBus.Error.AccessDenied` for a sandboxed \
    caller; `LimitsExceeded` beyond 8 connections of a user or 64 in all. Root is never \
    refused.&#10;&#10;Source: L15."/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="Diagnose">
        <annotation name="org.gtk.GDBus.DocString" value="Checks what the service depends on, for \
    people and for scripts.&#10;&#10;One entry for each check, with `name` (s), `state` (s, `ok`, \
    `warning` or `failed`), `message` (s, one sentence) and `remedy` (s, what to do; empty when \
    the state is ok).&#10;&#10;The check `options` has the last names of options that the caller's \
    programs gave and no method knows, which were ignored; root's also has the last one of each \
    other user. It is missing where there were none."/>
        <arg name="checks" type="aa{sv}" direction="out"/>
      </method>
      <signal name="Event">
        <annotation name="org.localauth.Delivery" value="unicast"/>
        <annotation name="org.gtk.GDBus.DocString" value="Progress of a one-shot evaluation, sent \
    to its caller only.&#10;&#10;The kinds and details are those of \
    `org.localauth.Context1.Event`; each detail has `call` (u, the serial of the Evaluate message) \
    as well.&#10;&#10;Receivers ignore kinds and keys that they don't know. The verdict is never \
    in it."/>
        <arg name="kind" type="s"/>
        <arg name="detail" type="a{sv}"/>
      </signal>
      <signal name="Evaluated">
        <annotation name="org.localauth.Delivery" value="unicast"/>
        <annotation name="org.gtk.GDBus.DocString" value="How an evaluation ended, sent to those \
    who called Monitor only.&#10;&#10;Record:&#10;- `time` (t, microseconds since 1970)&#10;- \
    `uid` (u, who was to be authenticated)&#10;- `session` (s, only when it is known)&#10;- \
    `app-name` (s, empty: none could be proved), `process` (s, the program's file name, or what \
    the process calls itself), `pid` (u)&#10;- `policy` (u)&#10;- `outcome` (s, `Success`, or the \
    name of the error without its prefix)&#10;- `mechanism` (s, only with success), `sensor` (s, \
    only with one)&#10;- `attempts` (u, failed attempts before it ended)&#10;&#10;Never the \
    reason, a secret, a template or a score. Receivers ignore keys that they don't \
    know.&#10;&#10;Source: L15."/>
        <arg name="record" type="a{sv}"/>
      </signal>
      <property name="Version" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        <annotation name="org.gtk.GDBus.DocString" value="Version of the daemon, as in its \
    `--version`."/>
      </property>
      <property name="BiometryType" type="u" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Biometry type of the strongest sensor \
    that is known, available or not.&#10;&#10;0 without any; of equally strong ones the lowest \
    number.&#10;&#10;Source: R42."/>
      </property>
      <property name="BiometryTypes" type="au" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Biometry types of all known sensors, \
    each once, in ascending order.&#10;&#10;Companions (type 0) are not among \
    them.&#10;&#10;Source: R42, L13."/>
      </property>
      <property name="Interactive" type="b" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="invalidates"/>
        <annotation name="org.gtk.GDBus.DocString" value="Whether Evaluate, called now by this \
    caller, would show a prompt: its session is in front and not locked, and an agent serves it \
    there.&#10;&#10;The answer depends on who asks; a change is announced without the value. The \
    first answer to a connection waits until it is known where the caller is; what can't be found \
    out reads false, and is announced when it is. CanInteract asks anew and says why \
    not.&#10;&#10;Source: R36, L2, L28."/>
      </property>
    </interface>
    """

// Made by dbus-codegen from dbus/org.localauth.Context1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Context1`.
public enum Context1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Context1"
}

extension Context1Interface {
    /// The members of `org.localauth.Context1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Context1.interface,
        methods: [
            "CanEvaluate": .init(name: "CanEvaluate", input: "u", output: "bis"),
            "Evaluate": .init(name: "Evaluate", input: "usa{sv}", output: "a{sv}"),
            "EvaluateAccessControl": .init(
                name: "EvaluateAccessControl",
                input: "a{sv}usa{sv}",
                output: "a{sv}"
            ),
            "SetCredential": .init(
                name: "SetCredential",
                input: "iaya{sv}",
                output: "b",
                isSensitive: true
            ),
            "ClearCredential": .init(name: "ClearCredential", input: "i", output: "b"),
            "IsCredentialSet": .init(name: "IsCredentialSet", input: "i", output: "b"),
            "Invalidate": .init(name: "Invalidate", input: "", output: ""),
            "Release": .init(name: "Release", input: "", output: ""),
        ],
        properties: [
            .init(name: "LocalizedFallbackTitle", signature: "s", isWritable: true, change: .value),
            .init(name: "LocalizedCancelTitle", signature: "s", isWritable: true, change: .value),
            .init(name: "LocalizedReason", signature: "s", isWritable: true, change: .value),
            .init(name: "InteractionNotAllowed", signature: "b", isWritable: true, change: .value),
            .init(name: "ReuseDuration", signature: "d", isWritable: true, change: .value),
            .init(name: "SuccessDuration", signature: "d", isWritable: true, change: .value),
            .init(name: "MaxBiometryFailures", signature: "u", isWritable: true, change: .value),
            .init(name: "BiometryType", signature: "u", isWritable: false, change: .value),
            .init(
                name: "EvaluatedPolicyDomainState",
                signature: "ay",
                isWritable: false,
                change: .value
            ),
            .init(name: "DomainState", signature: "a{sv}", isWritable: false, change: .value),
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Context1">
      <annotation name="org.gtk.GDBus.DocString" value="A context: evaluations that remember what \
    the person has proved already.&#10;&#10;Made by `org.localauth.Authentication1.CreateContext`; \
    only its creator sees or calls it, anybody else is answered \
    `org.freedesktop.DBus.Error.UnknownObject`. A success stays with the context until Invalidate, \
    Release, a lockout, an enrolment change or 10 minutes (`SuccessMinutes`): biometry satisfies \
    policies 1, 2 and 4, a companion 3 and 4, a passcode 2 only. A sensor's success satisfies only \
    requests whose `minimum-strength` is at most the strength of that sensor. PropertiesChanged \
    goes to the creator only.&#10;&#10;Source: R30 to R37."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Error.AuthenticationFailed&#10; org.localauth.Error.UserCancel&#10; \
    org.localauth.Error.UserFallback&#10; org.localauth.Error.SystemCancel&#10; \
    org.localauth.Error.PasscodeNotSet&#10; org.localauth.Error.BiometryNotAvailable&#10; \
    org.localauth.Error.BiometryNotEnrolled&#10; org.localauth.Error.BiometryLockout&#10; \
    org.localauth.Error.AppCancel&#10; org.localauth.Error.InvalidContext&#10; \
    org.localauth.Error.CompanionNotAvailable&#10; org.localauth.Error.BiometryNotPaired&#10; \
    org.localauth.Error.BiometryDisconnected&#10; org.localauth.Error.NotInteractive"/>
      <method name="CanEvaluate">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether a policy could be evaluated \
    now, without a prompt.&#10;&#10;As `org.localauth.Authentication1.CanEvaluate`. A success of a \
    biometric policy (1, 4) sets EvaluatedPolicyDomainState. After Invalidate: false, \
    -10.&#10;&#10;Errors: `org.freedesktop.DBus.Error.InvalidArgs` for an unknown \
    policy.&#10;&#10;Source: R10, R14, R31, R40."/>
        <arg name="policy" type="u" direction="in"/>
        <arg name="available" type="b" direction="out"/>
        <arg name="code" type="i" direction="out"/>
        <arg name="message" type="s" direction="out"/>
      </method>
      <method name="Evaluate">
        <annotation name="org.localauth.Stream" value="path"/>
        <annotation name="org.gtk.GDBus.DocString" value="Authenticates the person, or answers at \
    once when this context has a success that satisfies.&#10;&#10;The reply is the verdict; \
    progress comes as `Event` signals before it. The properties of the context and the arguments \
    are frozen when the call arrives; an option takes precedence over the property of the same \
    meaning. Call it without a timeout of the bus library.&#10;&#10;`reason`: plain text for the \
    prompt, 1 byte to 64 KiB, not empty once stripped.&#10;&#10;Options:&#10;- `timeout` (t, \
    milliseconds, default 120000, 0 is the default, at most 600000)&#10;- `fallback-title` (s, \
    default LocalizedFallbackTitle)&#10;- `cancel-title` (s, default LocalizedCancelTitle)&#10;- \
    `interaction-not-allowed` (b, default InteractionNotAllowed)&#10;- `reuse-duration` (d, \
    seconds, default ReuseDuration, finite and not negative, effect capped at 300)&#10;- `sensors` \
    (as, default: all)&#10;- `minimum-strength` (s, `strong`, `weak` or `convenience`, default \
    `convenience`)&#10;- `require-confirmation` (b, default: a face that is not strong is \
    confirmed in the prompt)&#10;- `parent-window` (s, default none)&#10;- `activation-token` (s, \
    default none)&#10;&#10;Result:&#10;- `mechanism` (s, `biometry`, `passcode`, `companion`, \
    `reuse` or `context`, the last for an earlier success of this context)&#10;- `biometry-type` \
    (u)&#10;- `sensor` (s)&#10;- `strength` (s)&#10;- `domain-state` (ay, only with \
    biometry)&#10;&#10;Errors: those of `org.localauth.Authentication1.Evaluate`, and \
    `org.localauth.Error.InvalidContext` after Invalidate.&#10;&#10;Source: R1 to R5, R10 to R13, \
    R20 to R26, R30 to R34, R40, L2, L5 to L10."/>
        <arg name="policy" type="u" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="result" type="a{sv}" direction="out"/>
      </method>
      <method name="EvaluateAccessControl">
        <annotation name="org.localauth.Stream" value="path"/>
        <annotation name="org.gtk.GDBus.DocString" value="Authenticates the person for one \
    operation on an item with that access control.&#10;&#10;`accessControl`:&#10;- `flags` (t, the \
    SecAccessControlCreateFlags bits, default 0: no authentication)&#10;- `accessible` (s, `ak`, \
    `ck`, `aku`, `cku` or `akpu`; `dk` and `dku` read as `ak`)&#10;&#10;`operation`: 0 createItem, \
    1 useItem, 2 createKey, 3 useKeySign, 4 useKeyDecrypt, 5 \
    useKeyKeyExchange.&#10;&#10;Afterwards Keychain1 takes this context for such an item without a \
    prompt, for this operation only. Several constraints are taken in one prompt, one after the \
    other, and so is an application password that the context doesn't have; whether that password \
    is right shows when it opens something. Where nothing has to be proved the answer comes at \
    once, with mechanism `context`. It never sets EvaluatedPolicyDomainState.&#10;&#10;Options and \
    result are those of Evaluate, without a fallback button and without `domain-state`; sensors \
    below the service's `KeychainStrength` don't count. One more option is `requester` (a{sv}: \
    `name` s, and `pid` u where it is known): on whose behalf the caller asks. Only the caller \
    says so: the prompt shows it beside the caller, the journal has it, and nothing is decided by \
    it.&#10;&#10;Errors: those of Evaluate; `org.freedesktop.DBus.Error.InvalidArgs` for an \
    unknown operation, flags that can't be combined or a requester without a \
    name.&#10;&#10;Source: R60 to R67, R71, L8."/>
        <arg name="accessControl" type="a{sv}" direction="in"/>
        <arg name="operation" type="u" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="result" type="a{sv}" direction="out"/>
      </method>
      <method name="SetCredential">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Gives the context a secret that it would \
    ask for otherwise.&#10;&#10;`credentialType`: 0 application password, -3 smart-card PIN. \
    `secret` has at most 64 KiB.&#10;&#10;Options: `sealed` (b, default false: `secret` is sealed \
    to `Keychain1.SealingKey`, as `org.localauth.Keychain1` says).&#10;&#10;Result: whether the \
    credential is set now; false for another type and after Invalidate.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` for a sealed secret that does not open; \
    `LimitsExceeded` for a larger secret.&#10;&#10;Source: R31, R37, L32."/>
        <arg name="credentialType" type="i" direction="in"/>
        <arg name="secret" type="ay" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="accepted" type="b" direction="out"/>
      </method>
      <method name="ClearCredential">
        <annotation name="org.gtk.GDBus.DocString" value="Forgets a credential of the \
    context.&#10;&#10;`credentialType`: 0 application password, -3 smart-card \
    PIN.&#10;&#10;Result: whether the type is known and the context still valid.&#10;&#10;Source: \
    R37."/>
        <arg name="credentialType" type="i" direction="in"/>
        <arg name="cleared" type="b" direction="out"/>
      </method>
      <method name="IsCredentialSet">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether the context has a \
    credential of that type.&#10;&#10;`credentialType`: 0 application password, -3 smart-card PIN. \
    False after Invalidate.&#10;&#10;Source: R31, R37."/>
        <arg name="credentialType" type="i" direction="in"/>
        <arg name="isSet" type="b" direction="out"/>
      </method>
      <method name="Invalidate">
        <annotation name="org.gtk.GDBus.DocString" value="Makes the context unusable.&#10;&#10;A \
    running evaluation ends with `org.localauth.Error.AppCancel`; every later one answers \
    `org.localauth.Error.InvalidContext`. Properties then read as their defaults. A second call \
    does nothing.&#10;&#10;Source: R31."/>
      </method>
      <method name="Release">
        <annotation name="org.gtk.GDBus.DocString" value="Takes the context object \
    away.&#10;&#10;Running evaluations end as with Invalidate; the path is unknown \
    afterwards.&#10;&#10;Source: R32."/>
      </method>
      <signal name="Event">
        <annotation name="org.localauth.Delivery" value="unicast"/>
        <annotation name="org.gtk.GDBus.DocString" value="Progress of an evaluation, sent to the \
    creator only.&#10;&#10;Kinds and details:&#10;- `prompt-shown`&#10;- `sensor-ready` (`sensor` \
    s, `biometry-type` u)&#10;- `sensor-busy` (`sensor` s, `biometry-type` u, `by` s: another \
    program has the sensor, its name or empty; the sensor looks as soon as it is free, and \
    `sensor-ready` comes again)&#10;- `sensor-failed` (`sensor` s, `biometry-type` u, `cause` s: \
    `denied`, `missing` or `failed`, `message` s: a sensor gave up; the others and the passcode go \
    on)&#10;- `hint` (`hint` s, as in `org.localauth.Sensor1.Event`)&#10;- `no-match` \
    (`attempts-left` u)&#10;- `fallback-available`&#10;- `confirmation-required`&#10;- \
    `passcode-required` (`cause` s: `boot`, `hours`, `hours-with-biometry`, `remote`, `program`, \
    `damaged`, `lockout`, `attempts`, `fallback`, `sensor-failed` (no sensor looks any more), \
    `verifier-failed`, `delay-over`, `application-password` or `access-control`; `text` s, only \
    with cause `remote`: the administrator's words)&#10;- `passcode-rejected` (`attempts-left` u; \
    `delay` t, the milliseconds in which no passcode is taken, where too many were \
    wrong)&#10;&#10;Receivers ignore kinds and keys that they don't know. The verdict is never in \
    it."/>
        <arg name="kind" type="s"/>
        <arg name="detail" type="a{sv}"/>
      </signal>
      <property name="LocalizedFallbackTitle" type="s" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Title of the fallback button, for \
    evaluations that start later.&#10;&#10;Never set: the prompt's own title. Set to the empty \
    string: no fallback button. Reads as empty when it was never set.&#10;&#10;Source: R22."/>
      </property>
      <property name="LocalizedCancelTitle" type="s" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Title of the cancel button, for \
    evaluations that start later.&#10;&#10;Default: empty, the prompt's own \
    title.&#10;&#10;Source: R23."/>
      </property>
      <property name="LocalizedReason" type="s" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Reason for prompts whose caller gave \
    none, such as keychain reads with this context.&#10;&#10;Default: empty. At most 64 \
    KiB.&#10;&#10;Source: R35."/>
      </property>
      <property name="InteractionNotAllowed" type="b" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Whether evaluations answer \
    `org.localauth.Error.NotInteractive` instead of a prompt.&#10;&#10;Default: false. \
    Availability errors take precedence.&#10;&#10;Source: R13, R36."/>
      </property>
      <property name="ReuseDuration" type="d" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Age of a biometric device unlock, in \
    seconds, that is accepted in place of a prompt.&#10;&#10;Default: 0, none. Finite and not \
    negative, else InvalidArgs; above 300 behaves as 300.&#10;&#10;Source: R34."/>
      </property>
      <property name="SuccessDuration" type="d" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="How long a success stays with this \
    context, in seconds; it counts at once, for what was proved before as well.&#10;&#10;Default: \
    600. Finite and not negative, else InvalidArgs; more than the administrator's `SuccessMinutes` \
    behaves as that. A lock of the screen ends a success, and so do sleep, the end of the session, \
    and a login manager that is started again.&#10;&#10;Source: R33, R35."/>
      </property>
      <property name="MaxBiometryFailures" type="u" access="readwrite">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Kept for callers that set it; it has no \
    effect.&#10;&#10;Default: 0.&#10;&#10;Source: R7."/>
      </property>
      <property name="BiometryType" type="u" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Biometry type of the strongest sensor \
    that is known, available or not.&#10;&#10;Needs no CanEvaluate before.&#10;&#10;Source: \
    R42."/>
      </property>
      <property name="EvaluatedPolicyDomainState" type="ay" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Enrolment state as of the last biometric \
    success of this context, 32 bytes; empty is none.&#10;&#10;Set by CanEvaluate or Evaluate of a \
    biometric policy (1, 4), never by policy 2 alone unless biometry answered it; cleared when an \
    evaluation starts. The same bytes for all apps of a user while the enrolment stays as it \
    is.&#10;&#10;Source: R40, L12."/>
      </property>
      <property name="DomainState" type="a{sv}" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Enrolment state now, readable without \
    CanEvaluate.&#10;&#10;Keys: `biometry` (ay) and `combined` (ay, over biometry and companions); \
    each is empty when nothing is enrolled. A sensor that ended because it was idle is started and \
    asked first, because it couldn't tell what changed meanwhile.&#10;&#10;Source: R41, L12."/>
      </property>
    </interface>
    """

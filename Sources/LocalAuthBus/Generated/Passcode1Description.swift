// Made by dbus-codegen from dbus/org.localauth.Passcode1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Passcode1`.
public enum Passcode1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Passcode1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Passcode1")

    /// The bus name of the program that has the object.
    public static let busName = "org.localauth.Passcode1"
}

extension Passcode1Interface {
    /// The members of `org.localauth.Passcode1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Passcode1.interface,
        methods: [
            "IsSet": .init(name: "IsSet", input: "u", output: "b"),
            "IsRemoved": .init(name: "IsRemoved", input: "u", output: "b"),
            "Verify": .init(name: "Verify", input: "usay", output: "b", isSensitive: true),
        ],
        properties: [
            .init(name: "SealingKey", signature: "ay", isWritable: false, change: .constant)
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Passcode1">
      <annotation name="org.gtk.GDBus.DocString" value="The password verifier: asks PAM, so that \
    the daemon never reads a password of a login.&#10;&#10;Methods answer the daemon only: other \
    callers get `org.freedesktop.DBus.Error.AccessDenied`. A verifier that is not root answers an \
    error for another user.&#10;&#10;Source: R5, L10, L32."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Passcode1.Error.Canceled&#10; org.localauth.Passcode1.Error.Failed"/>
      <method name="IsSet">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether a user has a \
    passcode.&#10;&#10;Set when the user's shadow field is neither empty nor starts with an \
    exclamation mark or an asterisk; a field that can't be read counts as set.&#10;&#10;Errors: \
    `org.localauth.Passcode1.Error.Failed` for a user that does not exist or that this verifier \
    can't serve; `org.freedesktop.DBus.Error.AccessDenied`.&#10;&#10;Source: R10, R11, L11b."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="isSet" type="b" direction="out"/>
      </method>
      <method name="IsRemoved">
        <annotation name="org.gtk.GDBus.DocString" value="Says whether a user who has no passcode \
    can't have the same one again.&#10;&#10;The daemon asks where IsSet says no, because items \
    that live only as long as there is a passcode are deleted with it, but are only hidden while \
    an account is locked (`passwd -l` puts an exclamation mark before the hash, `passwd -u` takes \
    it away).&#10;&#10;True when the user's shadow field has no hash: when nothing is left of it \
    without leading exclamation marks and asterisks. False for a field that can't be read, and \
    where the administrator said with `--passcode-set` how it is.&#10;&#10;A verifier without this \
    member is one that never says so.&#10;&#10;Errors: as IsSet.&#10;&#10;Source: R69."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="isRemoved" type="b" direction="out"/>
      </method>
      <method name="Verify">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Opens a sealed password and says whether \
    PAM accepts it.&#10;&#10;`sealed` is HPKE (RFC 9180) for the property SealingKey: base mode, \
    DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, info `org.localauth.Passcode1`, aad the \
    handle of the prompt. `enc` (32 bytes) comes first, then the ciphertext.&#10;&#10;False means \
    a wrong password: PAM_AUTH_ERR, PAM_MAXTRIES, or a plaintext that PAM cannot take (with a NUL, \
    or over 511 bytes). The answer to a wrong password waits as long as PAM asks for. A user has \
    one verification at a time, and PAM has 30 s for it.&#10;&#10;Errors, none of which is an \
    attempt: `org.freedesktop.DBus.Error.InvalidArgs` when `sealed` does not open, or opens to \
    nothing; `org.localauth.Passcode1.Error.Failed` when PAM gave no answer; `Canceled` when the \
    verifier is ending; `org.freedesktop.DBus.Error.LimitsExceeded` when too many checks wait; \
    `AccessDenied`.&#10;&#10;Source: R6, R8, L10, L32."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="prompt" type="s" direction="in"/>
        <arg name="sealed" type="ay" direction="in"/>
        <arg name="isCorrect" type="b" direction="out"/>
      </method>
      <signal name="Changed">
        <annotation name="org.localauth.Delivery" value="broadcast"/>
        <annotation name="org.gtk.GDBus.DocString" value="What IsSet says of a user may be another \
    than before.&#10;&#10;4294967295 stands for every user. Sent when the shadow file was written \
    or replaced, and not sent where the administrator said with `--passcode-set` how it \
    is.&#10;&#10;The daemon answers CanEvaluate from what IsSet said last, and asks again after \
    this signal. A bus may drop signals, so it also asks again behind its answers, and always \
    before it decides anything.&#10;&#10;Source: L11b."/>
        <arg name="uid" type="u"/>
      </signal>
      <property name="SealingKey" type="ay" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        <annotation name="org.gtk.GDBus.DocString" value="The verifier's public key, an X25519 \
    point of 32 bytes. Prompts seal passwords to it.&#10;&#10;The key pair is new at each boot, \
    and outlives a verifier that ends because it is idle.&#10;&#10;Source: L32."/>
      </property>
    </interface>
    """

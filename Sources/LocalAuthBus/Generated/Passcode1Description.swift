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
            "Verify": .init(name: "Verify", input: "uh", output: "b"),
        ],
        properties: [],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Passcode1">
      <annotation name="org.gtk.GDBus.DocString" value="The passcode verifier: asks PAM, so that \
    the daemon never holds a passcode.&#10;&#10;Its methods answer the daemon only: other callers \
    get `org.freedesktop.DBus.Error.AccessDenied`. A verifier that is not root answers an error \
    for another user.&#10;&#10;Source: R5, L10."/>
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
        <annotation name="org.gtk.GDBus.DocString" value="Reads one passcode from a socket and \
    says whether it is right.&#10;&#10;`socket` is the daemon's end of the SOCK_SEQPACKET pair of \
    a prompt, with one packet waiting; the verifier waits no longer than 1 s for it, and no longer \
    than 30 s for PAM. False is a wrong passcode (PAM_AUTH_ERR, PAM_MAXTRIES), or a packet that \
    PAM could never take: empty, with a NUL, or longer than 512 bytes. It is answered after the \
    delay that PAM asks for. A user has one verification at a time; others wait for \
    theirs.&#10;&#10;Errors, none of which is an attempt: `org.localauth.Passcode1.Error.Canceled` \
    when no packet came; `Failed` when PAM gave no answer; \
    `org.freedesktop.DBus.Error.LimitsExceeded` when too many wait, `AccessDenied`, `InvalidArgs` \
    for another kind of descriptor.&#10;&#10;Source: R6, R8, L10."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="socket" type="h" direction="in"/>
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
    </interface>
    """

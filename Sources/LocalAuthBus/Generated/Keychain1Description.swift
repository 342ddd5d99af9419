// Made by dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Keychain1`.
public enum Keychain1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Keychain1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Keychain1")

    /// The bus name of the program that has the object.
    public static let busName = "org.localauth.Authentication1"
}

extension Keychain1Interface {
    /// The members of `org.localauth.Keychain1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Keychain1.interface,
        methods: [
            "Add": .init(name: "Add", input: "a{sv}aya{sv}a{sv}", output: "s", isSensitive: true),
            "Search": .init(name: "Search", input: "a{sv}a{sv}", output: "aa{sv}"),
            "Read": .init(name: "Read", input: "ssa{sv}", output: "ay", isSensitive: true),
            "Update": .init(name: "Update", input: "sa{sv}a{sv}", output: ""),
            "SetSecret": .init(name: "SetSecret", input: "saya{sv}", output: "", isSensitive: true),
            "Delete": .init(name: "Delete", input: "as", output: "u"),
            "CreateKey": .init(name: "CreateKey", input: "a{sv}a{sv}a{sv}", output: "say"),
            "Sign": .init(name: "Sign", input: "ssaysa{sv}", output: "ay"),
            "Decrypt": .init(name: "Decrypt", input: "ssaysa{sv}", output: "ay", isSensitive: true),
            "KeyExchange": .init(
                name: "KeyExchange",
                input: "ssaysa{sv}",
                output: "ay",
                isSensitive: true
            ),
        ],
        properties: [
            .init(name: "SealingKey", signature: "ay", isWritable: false, change: .constant)
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Keychain1">
      <annotation name="org.gtk.GDBus.DocString" value="Secrets and keys that open only to the \
    person they belong to.&#10;&#10;Items belong to the caller's user. A sandboxed app with a \
    `sandbox-id` sees, changes and deletes items of the access group `sandbox.` followed by that \
    id, and no others; a sandboxed caller without an id gets \
    `org.freedesktop.DBus.Error.AccessDenied`. Programs outside sandboxes see all items of their \
    user, and make or move none in such a group (AccessDenied).&#10;&#10;A secret is a byte array \
    of at most 64 KiB, plain or sealed. Sealing is HPKE (RFC 9180): base mode, DHKEM(X25519, \
    HKDF-SHA256), HKDF-SHA256, AES-256-GCM, info `org.localauth.Keychain1`, aad the caller's \
    unique bus name. A sealed value is `enc` (32 bytes) followed by the ciphertext (16 bytes \
    longer than the secret).&#10;&#10;To the daemon: the option `sealed` (b) says that the value \
    is sealed to the property SealingKey. From the daemon: the option `seal-to` (ay, 32 bytes, the \
    caller's X25519 public key) has the reply sealed to that key. A plain secret lies in the bus's \
    memory for a moment; on the system bus only root can monitor.&#10;&#10;Attributes:&#10;- \
    `class` (s, `genp`, `inet` or `keys`)&#10;- `svce`, `acct`, `labl`, `desc`, `icmt`, `srvr`, \
    `sdmn`, `ptcl`, `atyp`, `path`, `agrp`, `vwht` (s)&#10;- `gena`, `atag` (ay)&#10;- `port`, \
    `type`, `crtr` (u)&#10;- `invi`, `nega`, `sync` (b; an item without `sync` is found by `sync` \
    false)&#10;- `form` (s): a note of the client, which the service doesn't read&#10;- of keys: \
    `klbl` (ay), `kcls`, `bsiz`, `esiz` (u), `sdat`, `edat` (x), `tkid` (s), `encr`, `decr`, \
    `drve`, `sign`, `vrfy`, `wrap`, `unwp`, `perm`, `sens`, `extr` (b); a key that is made here \
    has `klbl` (the SHA-1 of the point), `kcls` 1, `type` 73, `bsiz` and `esiz` 256 where they \
    were not given&#10;- `pdmn` (s, the words of `accessible` below; of a new item only without an \
    access control)&#10;- added by the daemon: `id` (s), `cdat` and `mdat` (x, Unix seconds), \
    `pdmn` where it was not given, `flags` (t, as below), and of a key `public-key` (ay, the X9.63 \
    point); the last two are not for queries&#10;&#10;Primary keys: `genp` agrp, svce, acct; \
    `inet` agrp, srvr, acct, sdmn, ptcl, atyp, port, path; `keys` agrp, atag. To these belong \
    `sync`, and of keys `klbl`, `crtr`, `type`, `bsiz`, `esiz`, `sdat`, `edat` and `kcls`, where \
    an item was given them. An access group keeps the items of one program apart from those of \
    another; it is what the caller says, and protects nothing.&#10;&#10;Access control:&#10;- \
    `flags` (t, the SecAccessControlCreateFlags bits, default 0: no authentication)&#10;- \
    `accessible` (s, `ak`, `ck`, `aku`, `cku` or `akpu`, default `ak`; `dk` and `dku` read as \
    `ak`)&#10;&#10;Calls that may prompt take a `reason` as Evaluate does, needed only where a \
    prompt is shown, are made without a timeout of the bus library, and have these options:&#10;- \
    `context` (o, an evaluated context that satisfies the item needs no prompt; another one is \
    prompted on)&#10;- `timeout` (t, milliseconds, default 120000, 0 is the default, at most \
    600000)&#10;- `interaction-not-allowed` (b, default false)&#10;&#10;Calls of one user are \
    served one at a time, in order, and `timeout` doesn't count that wait. One too many is \
    `org.freedesktop.DBus.Error.LimitsExceeded`: of Read, Sign, Decrypt and KeyExchange, together \
    with evaluations, 8 of a connection and 64 of a user may be unanswered (by default); of all \
    else 64 and 256, together with what is asked of other interfaces.&#10;&#10;Errors map to \
    OSStatus: Duplicate -25299, NotFound -25300, AuthFailed -25293, InteractionNotAllowed -25308, \
    UserCanceled -128, Parameter -50, Decode -26275, NotAvailable -25291.&#10;&#10;Source: R35, \
    R36, R60 to R71, L8, L18, L32, L36."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Keychain1.Error.Duplicate&#10; org.localauth.Keychain1.Error.NotFound&#10; \
    org.localauth.Keychain1.Error.AuthFailed&#10; \
    org.localauth.Keychain1.Error.InteractionNotAllowed&#10; \
    org.localauth.Keychain1.Error.UserCanceled&#10; org.localauth.Keychain1.Error.Parameter&#10; \
    org.localauth.Keychain1.Error.Decode&#10; org.localauth.Keychain1.Error.NotAvailable"/>
      <method name="Add">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Stores a secret, without a prompt; the \
    reply is the id of the item.&#10;&#10;`secret` has at most 64 KiB, and 48 bytes more where it \
    is sealed; it may be empty.&#10;&#10;Options: `sealed` (b, default false); `context` (o, gives \
    the application password of an item with that flag); `replaces` (s, the id of an item of the \
    caller, which the new item replaces in one change: if the new one can't be stored, the old one \
    stays as it is; both may have the same primary key); `in-place` (b, default false, only with \
    `replaces`: the new item has the id of that one); `created` (x, Unix seconds, the `cdat` of \
    the item; now); `key-material` (b, default false: the secret is that of a key which the caller \
    has; `class` is `keys`, and the item is read and changed as any other secret; Sign, Decrypt \
    and KeyExchange don't use it).&#10;&#10;Errors: `org.localauth.Keychain1.Error.Duplicate` when \
    another item with this primary key exists; `NotFound` when the one to replace isn't there; \
    `Parameter` for attributes or flags that don't go together, and for a sealed secret that does \
    not open; `NotAvailable` for `akpu` without a passcode; \
    `org.freedesktop.DBus.Error.LimitsExceeded` for a larger secret or more than 20000 items a \
    user (configurable).&#10;&#10;Source: R60 to R66, R69, R70, L18."/>
        <arg name="attributes" type="a{sv}" direction="in"/>
        <arg name="secret" type="ay" direction="in"/>
        <arg name="accessControl" type="a{sv}" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="id" type="s" direction="out"/>
      </method>
      <method name="Search">
        <annotation name="org.gtk.GDBus.DocString" value="Finds items by equality of attributes, \
    without a prompt.&#10;&#10;The reply has the attributes and the id of each item, never a \
    secret. An empty query lists all items of the user; none found is an empty list. Items are \
    ordered by `cdat`, and within one second by when they were added; changing an item doesn't \
    move it.&#10;&#10;Options: `skip-authenticated` (b, default false: leaves out items that need \
    authentication).&#10;&#10;Errors: `org.localauth.Keychain1.Error.Parameter`, `NotAvailable`; \
    `org.freedesktop.DBus.Error.LimitsExceeded` when what is found has more than 8 MiB of \
    attributes: a narrower query finds it in parts.&#10;&#10;Source: R66, R68."/>
        <arg name="query" type="a{sv}" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="items" type="aa{sv}" direction="out"/>
      </method>
      <method name="Read">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Returns the secret of an item. Prompts \
    when the item needs it.&#10;&#10;Options: `seal-to` (ay, as above); `context` (o, an evaluated \
    context), and those of Context1.Evaluate but for `fallback-title`: `timeout`, \
    `interaction-not-allowed`, `cancel-title`, `reuse-duration`, `sensors`, `minimum-strength`, \
    `require-confirmation`, `parent-window`, `activation-token`; `requester` (a{sv}, as in \
    Context1.EvaluateAccessControl).&#10;&#10;Errors: `org.localauth.Keychain1.Error.NotFound` \
    (also for an item of `biometryCurrentSet` after a change of the enrolment), `AuthFailed` (no \
    match, lockout, no usable biometry, an invalid context, a wrong application password), \
    `UserCanceled` (also for a deadline), `InteractionNotAllowed`, `Decode`, `NotAvailable`, \
    `Parameter` for a `seal-to` that is no key, before any prompt; \
    `org.freedesktop.DBus.Error.LimitsExceeded`.&#10;&#10;Source: R35, R36, R66 to R68, R71."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="secret" type="ay" direction="out"/>
      </method>
      <method name="Update">
        <annotation name="org.gtk.GDBus.DocString" value="Changes attributes of an item, without a \
    prompt.&#10;&#10;Attributes that are not given stay.&#10;&#10;Options: `keep` (b, default \
    false: a key that was made with `temporary` stays from now on, as if it had been made without; \
    it changes nothing of another item).&#10;&#10;Errors: \
    `org.localauth.Keychain1.Error.NotFound`; `Duplicate` when the new primary key is taken; \
    `Parameter`; `NotAvailable`.&#10;&#10;Source: R66."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="attributes" type="a{sv}" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="SetSecret">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Replaces the secret of an item, without \
    a prompt.&#10;&#10;`secret` has at most 64 KiB, and 48 bytes more where it is sealed; it may \
    be empty.&#10;&#10;Options: `sealed` (b, default false); `context` (o, gives the application \
    password of an item with that flag); `attributes` (a{sv}, changed as by Update, in one change \
    with the secret: both or neither).&#10;&#10;Errors: `org.localauth.Keychain1.Error.NotFound`, \
    `AuthFailed`, `Parameter` (also for a sealed secret that does not open), `NotAvailable`, \
    `Duplicate` when the new primary key is taken; \
    `org.freedesktop.DBus.Error.LimitsExceeded`.&#10;&#10;Source: R66, L18."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="secret" type="ay" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="Delete">
        <annotation name="org.gtk.GDBus.DocString" value="Deletes items for good, without a \
    prompt, and says how many there were.&#10;&#10;Ids that are unknown are not counted and no \
    error.&#10;&#10;Source: R66."/>
        <arg name="ids" type="as" direction="in"/>
        <arg name="deleted" type="u" direction="out"/>
      </method>
      <method name="CreateKey">
        <annotation name="org.gtk.GDBus.DocString" value="Makes a P-256 key whose private half \
    never leaves the daemon.&#10;&#10;`class` may be absent, or is `keys`. `publicKey` is the \
    X9.63 point, uncompressed (65 bytes). An empty `klbl` becomes its SHA-1: then the key is \
    another one than any with the same tag.&#10;&#10;Options: `context` (o, gives the application \
    password of a key with that flag) · `temporary` (b, default false: the key is deleted when the \
    caller leaves the bus, and Search doesn't find it, until Update is told to `keep` it; one \
    stays if the service ends first).&#10;&#10;Errors: `org.localauth.Keychain1.Error.Duplicate`, \
    `Parameter`, `NotAvailable`; `org.freedesktop.DBus.Error.LimitsExceeded`.&#10;&#10;Source: \
    R66, L18."/>
        <arg name="attributes" type="a{sv}" direction="in"/>
        <arg name="accessControl" type="a{sv}" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="id" type="s" direction="out"/>
        <arg name="publicKey" type="ay" direction="out"/>
      </method>
      <method name="Sign">
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Signs with a key; prompts when the key \
    needs it.&#10;&#10;`algorithm` is `ecdsa-message-sha256` (`data` is the message) or \
    `ecdsa-digest-sha256` (`data` is the digest, 32 bytes). The signature is X9.62 \
    DER.&#10;&#10;Options: `context` (o, an evaluated context), and those of Context1.Evaluate but \
    for `fallback-title`: `timeout`, `interaction-not-allowed`, `cancel-title`, `reuse-duration`, \
    `sensors`, `minimum-strength`, `require-confirmation`, `parent-window`, `activation-token`; \
    `requester` (a{sv}, as in Context1.EvaluateAccessControl).&#10;&#10;Errors: \
    `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm or a digest of another \
    length; else those of Read.&#10;&#10;Source: R66."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="algorithm" type="s" direction="in"/>
        <arg name="data" type="ay" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="signature" type="ay" direction="out"/>
      </method>
      <method name="Decrypt">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Decrypts with a key and returns the \
    plain text.&#10;&#10;`algorithm` is `ecies-cofactor-x963-sha256-aesgcm`: ECIES, cofactor, \
    X9.63 with SHA-256, AES-GCM with a variable IV. `data` is the sender's X9.63 point (65 bytes), \
    the encrypted bytes and a tag of 16 bytes; that point is the shared info of the key \
    derivation, whose 32 bytes are the AES key and the IV, 16 each.&#10;&#10;Options: `seal-to` \
    (ay, as above); `context` (o, an evaluated context), and those of Context1.Evaluate but for \
    `fallback-title`: `timeout`, `interaction-not-allowed`, `cancel-title`, `reuse-duration`, \
    `sensors`, `minimum-strength`, `require-confirmation`, `parent-window`, `activation-token`; \
    `requester` (a{sv}, as in Context1.EvaluateAccessControl).&#10;&#10;Errors: \
    `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm; `Decode` for data that \
    doesn't decrypt; else those of Read.&#10;&#10;Source: R66."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="algorithm" type="s" direction="in"/>
        <arg name="data" type="ay" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="plaintext" type="ay" direction="out"/>
      </method>
      <method name="KeyExchange">
        <annotation name="org.localauth.Sensitive" value="true"/>
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Agrees on a secret with another key and \
    returns it.&#10;&#10;`algorithm` is `ecdh` or `ecdh-x963-sha256`; `publicKey` is the other \
    side's X9.63 point.&#10;&#10;Options:&#10;- `shared-info` (ay, default empty), with \
    `ecdh-x963-sha256`&#10;- `size` (u, bytes of the secret, 1 to 1024, default 32), with \
    `ecdh-x963-sha256`&#10;- those of Read&#10;&#10;Errors: \
    `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm, a size out of range or a \
    point that is not on the curve; else those of Read.&#10;&#10;Source: R66."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="algorithm" type="s" direction="in"/>
        <arg name="publicKey" type="ay" direction="in"/>
        <arg name="reason" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="sharedSecret" type="ay" direction="out"/>
      </method>
      <property name="SealingKey" type="ay" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        <annotation name="org.gtk.GDBus.DocString" value="The daemon's public key, an X25519 point \
    of 32 bytes, new at each start of the daemon.&#10;&#10;Secrets for the daemon are sealed to \
    it: Add, SetSecret, SetCredential and SubmitPassword.&#10;&#10;Source: L32."/>
      </property>
    </interface>
    """

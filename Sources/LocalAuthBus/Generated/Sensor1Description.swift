// Made by dbus-codegen from dbus/org.localauth.Sensor1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Sensor1`.
public enum Sensor1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Sensor1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Sensor1")
}

extension Sensor1Interface {
    /// The members of `org.localauth.Sensor1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Sensor1.interface,
        methods: [
            "Verify": .init(name: "Verify", input: "tua{sv}", output: "s"),
            "Enroll": .init(name: "Enroll", input: "tusa{sv}", output: "s"),
            "Cancel": .init(name: "Cancel", input: "t", output: ""),
            "Learn": .init(name: "Learn", input: "t", output: "b"),
            "ListLearned": .init(name: "ListLearned", input: "u", output: "a(ssx)"),
            "RemoveLearned": .init(name: "RemoveLearned", input: "us", output: ""),
            "ListTemplates": .init(name: "ListTemplates", input: "u", output: "a(ssx)"),
            "RenameTemplate": .init(name: "RenameTemplate", input: "uss", output: ""),
            "RemoveTemplate": .init(name: "RemoveTemplate", input: "us", output: ""),
            "RemoveAllTemplates": .init(name: "RemoveAllTemplates", input: "u", output: "u"),
            "Health": .init(name: "Health", input: "", output: "ss"),
        ],
        properties: [
            .init(name: "ProtocolVersions", signature: "au", isWritable: false, change: .constant),
            .init(name: "Description", signature: "s", isWritable: false, change: .value),
            .init(name: "BiometryType", signature: "u", isWritable: false, change: .value),
            .init(name: "Strength", signature: "s", isWritable: false, change: .value),
            .init(name: "Present", signature: "b", isWritable: false, change: .value),
            .init(name: "Unavailability", signature: "s", isWritable: false, change: .value),
            .init(name: "EnrollStages", signature: "i", isWritable: false, change: .value),
            .init(name: "MaxTemplates", signature: "u", isWritable: false, change: .value),
            .init(name: "Instructions", signature: "a{ss}", isWritable: false, change: .value),
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Sensor1">
      <annotation name="org.gtk.GDBus.DocString" value="A sensor: looks for a match, enrols, and \
    keeps its templates to itself.&#10;&#10;Implemented by a sensor process that owns a bus name \
    `org.localauth.Sensor1.NAME`, called by the daemon only: methods answer \
    `org.freedesktop.DBus.Error.AccessDenied` to callers that don't own \
    `org.localauth.Authentication1`, while properties, Introspect and Peer answer anybody. An \
    operation ends when its caller leaves the bus. Operations are numbered by the daemon, so that \
    a Cancel never races the start; there is never more than one at a time. Scores, images and \
    templates never cross the bus. A label and an id have at most 256 bytes, and 4294967295 is no \
    uid: else the answer is `org.freedesktop.DBus.Error.InvalidArgs`.&#10;&#10;A sensor may also \
    answer one property that is not declared here, because it may be missing: `BuiltIn` b, read by \
    Get, GetAll and PropertiesChanged like the others. True: the sensor sits under the lid and \
    can't be used while the lid is closed. False: it is external, and the lid doesn't matter. \
    Without it a closed lid counts for the sensor unless the machine is docked.&#10;&#10;Source: \
    R8, R51, L3, L5, L16."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Sensor1.Error.Canceled&#10; org.localauth.Sensor1.Error.Busy&#10; \
    org.localauth.Sensor1.Error.NoTemplates&#10; org.localauth.Sensor1.Error.Full&#10; \
    org.localauth.Sensor1.Error.Duplicate&#10; org.localauth.Sensor1.Error.Disconnected&#10; \
    org.localauth.Sensor1.Error.Denied&#10; org.localauth.Sensor1.Error.Failed"/>
      <method name="Verify">
        <annotation name="org.localauth.Stream" value="operation"/>
        <annotation name="org.gtk.GDBus.DocString" value="Looks for a match until one comes, \
    Cancel, or a fault; the reply is the template that matched.&#10;&#10;Each failed attempt is \
    told by a call: NoMatch of `org.localauth.SensorHost1`, on the connection that called Verify. \
    The sensor looks at nothing until that is answered. A canceled scan or a fault of the sensor \
    is not an attempt.&#10;&#10;Options: `learn` (b, default false: whether Learn may follow the \
    match); unknown ones are ignored.&#10;&#10;Errors: `org.localauth.Sensor1.Error.Canceled` \
    after Cancel; `Busy` while another operation runs; `NoTemplates` when nothing is enrolled for \
    the user; `Disconnected`; `Denied` when the sensor is not allowed what it needs; `Failed`. The \
    message of `Denied` and `Failed` is one sentence for people: what went wrong, and what to do \
    about it.&#10;&#10;Source: R1, R8, L5, L20."/>
        <arg name="operation" type="t" direction="in"/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="template" type="s" direction="out"/>
      </method>
      <method name="Enroll">
        <annotation name="org.localauth.Stream" value="operation"/>
        <annotation name="org.gtk.GDBus.DocString" value="Enrols the user; the reply is the id of \
    the new template.&#10;&#10;Each finished stage is an `Event` of kind `stage`. A template \
    exists once the reply is sent, not before. No options are defined yet; unknown ones are \
    ignored.&#10;&#10;Errors: `org.localauth.Sensor1.Error.Canceled` after Cancel; `Busy` while \
    another operation runs; `Full` when MaxTemplates is reached; `Duplicate` for what is enrolled \
    already; `Disconnected`; `Denied`; `Failed`.&#10;&#10;Source: R40, L12."/>
        <arg name="operation" type="t" direction="in"/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="label" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="template" type="s" direction="out"/>
      </method>
      <method name="Cancel">
        <annotation name="org.gtk.GDBus.DocString" value="Ends an operation; its reply is then \
    `org.localauth.Sensor1.Error.Canceled`. The calls may be served in another order than they \
    were sent: a Cancel that comes before its operation is remembered, and the operation ends with \
    `Canceled` when it comes.&#10;&#10;A match that is found after Cancel arrived is never \
    reported. An operation that is over or unknown: nothing happens. A sensor that has not ended \
    its operation 5 s later counts as failed.&#10;&#10;Source: L4, L5, L16."/>
        <arg name="operation" type="t" direction="in"/>
      </method>
      <method name="Learn">
        <annotation name="org.gtk.GDBus.DocString" value="Adds what was seen in a match to the \
    template that matched; the reply is whether it was added.&#10;&#10;Optional: a sensor that \
    doesn't learn may answer `org.freedesktop.DBus.Error.UnknownMethod`.&#10;&#10;Called once the \
    person's passcode was right in the same prompt as the match, and never after a match alone. \
    Only the connection that called Verify may call it, with the number of the last operation, if \
    that had the option `learn`, ended with a match at most 30 s ago, and no other began since. \
    The sensor keeps what it saw no longer than that. It adds only what is far inside its \
    threshold, measured by what was enrolled and not by what was learned, at most once in 24 h and \
    at most five times for a user.&#10;&#10;The template keeps its id, and no TemplatesChanged is \
    sent: it stands for the same person, as the passcode said.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` for an operation of which nothing may be learned; \
    `org.localauth.Sensor1.Error.NoTemplates` when the template is gone; \
    `Failed`.&#10;&#10;Source: L12."/>
        <arg name="operation" type="t" direction="in"/>
        <arg name="learned" type="b" direction="out"/>
      </method>
      <method name="ListLearned">
        <annotation name="org.gtk.GDBus.DocString" value="Lists what was learned of a user: its \
    id, the id of the template that it is a part of, and when it was learned (Unix \
    seconds).&#10;&#10;Optional: a sensor that doesn't learn may answer \
    `org.freedesktop.DBus.Error.UnknownMethod`.&#10;&#10;Errors: \
    `org.localauth.Sensor1.Error.Disconnected`, `Failed`.&#10;&#10;Source: L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="learned" type="a(ssx)" direction="out">
          <annotation name="org.localauth.Type" value="LearnedEntry(id,template,learned)"/>
        </arg>
      </method>
      <method name="RemoveLearned">
        <annotation name="org.gtk.GDBus.DocString" value="Removes something that was learned, for \
    good. What was enrolled stays, and so does the template's id; no TemplatesChanged is \
    sent.&#10;&#10;Optional: a sensor that doesn't learn may answer \
    `org.freedesktop.DBus.Error.UnknownMethod`.&#10;&#10;Errors: \
    `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; `Busy`; `Disconnected`; \
    `Failed`.&#10;&#10;Source: L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="id" type="s" direction="in"/>
      </method>
      <method name="ListTemplates">
        <annotation name="org.gtk.GDBus.DocString" value="Lists what is enrolled for a \
    user.&#10;&#10;Each template has an id, a label and the time it was created (Unix seconds, 0 \
    unknown). The id must change whenever the biometric data behind it changes. Only what Learn \
    adds, and RemoveLearned removes, changes no id. Answers while an operation runs.&#10;&#10;It \
    is asked before each decision, together with the properties. A sensor that refuses, or doesn't \
    answer within 2 s, isn't used for this user until it answers, and items of \
    `biometryCurrentSet` are neither opened nor deleted meanwhile: what isn't known is never taken \
    for unchanged.&#10;&#10;A sensor that is there is asked for it also while nothing may look: \
    under a closed lid, and while `Unavailability` isn't empty. In the second case its list takes \
    nothing away: one that differs from what is known counts as no answer.&#10;&#10;Errors: \
    `org.localauth.Sensor1.Error.Disconnected`, `Failed`; `Busy` when the device has to be asked \
    and another program has it, which is asked again.&#10;&#10;Source: R40, R67, L11b, L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="templates" type="a(ssx)" direction="out">
          <annotation name="org.localauth.Type" value="Template(id,label,created)"/>
        </arg>
      </method>
      <method name="RenameTemplate">
        <annotation name="org.gtk.GDBus.DocString" value="Gives a template another label and keeps \
    its id.&#10;&#10;Sends no TemplatesChanged.&#10;&#10;Errors: \
    `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; `Disconnected`; \
    `Failed`.&#10;&#10;Source: L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="id" type="s" direction="in"/>
        <arg name="label" type="s" direction="in"/>
      </method>
      <method name="RemoveTemplate">
        <annotation name="org.gtk.GDBus.DocString" value="Removes a template for good, and what \
    was learned with it.&#10;&#10;Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown \
    id; `Busy`; `Disconnected`; `Failed`.&#10;&#10;Source: R40, L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="id" type="s" direction="in"/>
      </method>
      <method name="RemoveAllTemplates">
        <annotation name="org.gtk.GDBus.DocString" value="Removes all templates of a user and says \
    how many there were.&#10;&#10;Errors: `org.localauth.Sensor1.Error.Busy`, `Disconnected`, \
    `Failed`.&#10;&#10;Source: R40, L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="removed" type="u" direction="out"/>
      </method>
      <method name="Health">
        <annotation name="org.gtk.GDBus.DocString" value="Says how the sensor is, within 1 s \
    whatever else runs.&#10;&#10;`state` is `ok`, `degraded` or `failed`; `message` is one \
    sentence for people, empty when there is nothing to say.&#10;&#10;Source: L16."/>
        <arg name="state" type="s" direction="out"/>
        <arg name="message" type="s" direction="out"/>
      </method>
      <signal name="Event">
        <annotation name="org.localauth.Delivery" value="unicast"/>
        <annotation name="org.gtk.GDBus.DocString" value="Progress of an operation, sent to its \
    caller only.&#10;&#10;Kinds and details:&#10;- `ready` (the sensor looks now)&#10;- `hint` \
    (`hint` s: `move-closer`, `move-away`, `center`, `too-dark`, `too-bright`, `hold-still`, \
    `swipe-too-short`, `too-fast`, `lift-and-retry`, `clean-sensor`, `look-at-camera`, \
    `confirm-presence`, `turn-left` or `turn-right`)&#10;- `stage` (`stage` u, done so far; \
    `stages` i, in all, -1 unknown)&#10;- `busy` (`by` s, a name, may be empty: another program \
    has the device. The sensor waits for it, and `ready` follows, again, within 0.5 s of its being \
    free)&#10;&#10;Receivers ignore kinds and keys that they don't know. A bus may drop signals, \
    so nothing is counted, locked or refused by one: it is there to be shown.&#10;&#10;Source: R8, \
    R51, L20, L25."/>
        <arg name="operation" type="t"/>
        <arg name="kind" type="s"/>
        <arg name="detail" type="a{sv}"/>
      </signal>
      <signal name="TemplatesChanged">
        <annotation name="org.localauth.Delivery" value="broadcast"/>
        <annotation name="org.gtk.GDBus.DocString" value="A user's set of templates changed, \
    whoever changed it.&#10;&#10;Sent after Enroll and Remove, and for changes made outside the \
    daemon; not for a rename.&#10;&#10;Source: L11b, L12."/>
        <arg name="uid" type="u"/>
      </signal>
      <property name="ProtocolVersions" type="au" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        <annotation name="org.gtk.GDBus.DocString" value="Versions of this protocol that the \
    sensor speaks; this text is version 1.&#10;&#10;The highest common one is used; with none in \
    common the sensor is listed as `incompatible` and never called."/>
      </property>
      <property name="Description" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="What the sensor is, for people: maker \
    and model."/>
      </property>
      <property name="BiometryType" type="u" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="What it recognises: 0 a companion, 1 \
    fingerprint, 2 face, 4 iris.&#10;&#10;Source: L13."/>
      </property>
      <property name="Strength" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="How much a match proves: `strong`, \
    `weak` or `convenience`.&#10;&#10;Source: L8."/>
      </property>
      <property name="Present" type="b" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Whether the hardware is there."/>
      </property>
      <property name="Unavailability" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Why the sensor can't be used, by the \
    names of `org.localauth.Device1`; empty when it can."/>
      </property>
      <property name="EnrollStages" type="i" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Number of stages of an enrolment; -1 \
    unknown."/>
      </property>
      <property name="MaxTemplates" type="u" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Templates that the sensor can hold; 0 no \
    limit."/>
      </property>
      <property name="Instructions" type="a{ss}" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="What a person is asked to do, in the \
    sensor's own words: by language, such as `en`, `de` or `zh_CN`, plain text of at most 80 \
    characters without a full stop.&#10;&#10;Prompts show it in quotation marks, with the sensor's \
    name, in the user's language, else in English. Empty, or where a sensor doesn't have the \
    property: they have the words of the biometry type. At most 64 languages, each named in at \
    most 16 bytes.&#10;&#10;Source: L14, L19."/>
      </property>
    </interface>
    """

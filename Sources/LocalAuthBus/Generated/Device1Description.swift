// Made by dbus-codegen from dbus/org.localauth.Device1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.Device1`.
public enum Device1 {
    /// The name of the interface.
    public static let interface = "org.localauth.Device1"
}

extension Device1Interface {
    /// The members of `org.localauth.Device1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: Device1.interface,
        methods: [
            "ListTemplates": .init(name: "ListTemplates", input: "a{sv}", output: "a(ssx)"),
            "Enroll": .init(name: "Enroll", input: "sa{sv}", output: "s"),
            "CancelEnroll": .init(name: "CancelEnroll", input: "", output: ""),
            "ListLearned": .init(name: "ListLearned", input: "a{sv}", output: "a(ssx)"),
            "RemoveLearned": .init(name: "RemoveLearned", input: "sa{sv}", output: ""),
            "RenameTemplate": .init(name: "RenameTemplate", input: "ssa{sv}", output: ""),
            "RemoveTemplate": .init(name: "RemoveTemplate", input: "sa{sv}", output: ""),
            "RemoveAllTemplates": .init(name: "RemoveAllTemplates", input: "a{sv}", output: "u"),
        ],
        properties: [
            .init(name: "Name", signature: "s", isWritable: false, change: .constant),
            .init(name: "Description", signature: "s", isWritable: false, change: .value),
            .init(name: "BiometryType", signature: "u", isWritable: false, change: .value),
            .init(name: "Strength", signature: "s", isWritable: false, change: .value),
            .init(name: "Available", signature: "b", isWritable: false, change: .value),
            .init(name: "Unavailability", signature: "s", isWritable: false, change: .value),
            .init(name: "Instructions", signature: "a{ss}", isWritable: false, change: .value),
            .init(name: "EnrollStages", signature: "i", isWritable: false, change: .value),
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.Device1">
      <annotation name="org.gtk.GDBus.DocString" value="A sensor as clients see it: what it is, \
    whether it works, and what is enrolled.&#10;&#10;The objects \
    `/org/localauth/Authentication1/sensor/NAME`, found through the ObjectManager. The methods act \
    on the caller's user. Enrolling and removing need a passcode given within the last 60 s: in \
    option `context` an evaluated context whose mechanism was `passcode`, else the daemon prompts \
    for it first. Root needs none.&#10;&#10;With option `uid` root acts for another user, and so \
    does whom polkit allows it to: the actions are `org.localauth.enroll-others` (Enroll, \
    RenameTemplate) and `org.localauth.remove-others` (ListTemplates, ListLearned, RemoveTemplate, \
    RemoveLearned, RemoveAllTemplates). It is asked for each call, and its yes takes the place of \
    the passcode. Where there is no polkit, the answer is \
    `org.freedesktop.DBus.Error.AccessDenied`; while it is asked about another call of the same \
    user, `LimitsExceeded`.&#10;&#10;Source: R50, R51, L3, L4."/>
      <annotation name="org.localauth.Errors" value="&#10; \
    org.localauth.Error.AuthenticationFailed&#10; org.localauth.Error.UserCancel&#10; \
    org.localauth.Error.SystemCancel&#10; org.localauth.Error.PasscodeNotSet&#10; \
    org.localauth.Error.BiometryNotAvailable&#10; org.localauth.Error.AppCancel&#10; \
    org.localauth.Error.NotInteractive&#10; org.localauth.Sensor1.Error.Busy&#10; \
    org.localauth.Sensor1.Error.NoTemplates&#10; org.localauth.Sensor1.Error.Full&#10; \
    org.localauth.Sensor1.Error.Duplicate&#10; org.localauth.Sensor1.Error.Disconnected&#10; \
    org.localauth.Sensor1.Error.Failed"/>
      <method name="ListTemplates">
        <annotation name="org.gtk.GDBus.DocString" value="Lists what is enrolled for the user on \
    this sensor.&#10;&#10;Each template has an id, a label and the time it was created (Unix \
    seconds, 0 unknown).&#10;&#10;Options: `uid` (u, of another user: root, or whom polkit lets; \
    default the caller's).&#10;&#10;Errors: `org.localauth.Error.BiometryNotAvailable`; \
    `org.freedesktop.DBus.Error.AccessDenied` for option `uid` from whom polkit doesn't let; an \
    error of the sensor, passed on unchanged.&#10;&#10;Source: R51."/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="templates" type="a(ssx)" direction="out">
          <annotation name="org.localauth.Type" value="Template(id,label,created)"/>
        </arg>
      </method>
      <method name="Enroll">
        <annotation name="org.localauth.Stream" value="path"/>
        <annotation name="org.gtk.GDBus.DocString" value="Enrols a finger, a face or a companion; \
    the reply is the id of the new template.&#10;&#10;Progress comes as `Event` signals before it. \
    A caller that leaves the bus cancels it.&#10;&#10;Who enrols sits at the machine, from the \
    call to its answer: a caller in a remote session, or in none whose prompt isn't known to be \
    shown at the machine, is refused before the passcode is asked for, and so is one whose session \
    is locked or not in front. A lock, a switch of session, a logout and sleep end it, and a \
    template that was made meanwhile is removed. Root, and whom polkit lets enrol another user, \
    may be anywhere; sleep ends theirs as well.&#10;&#10;`label`: the person's name for it, shown \
    in lists, at most 256 bytes; control and bidirectional-override characters are \
    stripped.&#10;&#10;Options:&#10;- `context` (o, an evaluated context whose mechanism was \
    `passcode` at most 60 s ago, default: the daemon prompts)&#10;- `timeout` (t, milliseconds, \
    default 120000, 0 is the default, at most 600000)&#10;- `parent-window` (s, handle of the \
    caller's window, default none)&#10;- `activation-token` (s, default none)&#10;- `uid` (u, of \
    another user: root, or whom polkit lets; default the caller's)&#10;&#10;Errors: \
    `org.localauth.Error.AppCancel` after CancelEnroll; `BiometryNotAvailable`, also in a remote \
    session; `NotInteractive` in a session that is locked or not in front; `PasscodeNotSet`, \
    `AuthenticationFailed`, `UserCancel`, `NotInteractive` from the passcode prompt; \
    `SystemCancel` at the deadline and when the session or sleep ends it; \
    `org.localauth.Sensor1.Error.Busy`, `Full`, `Duplicate`, `Disconnected`, `Failed`; \
    `org.freedesktop.DBus.Error.AccessDenied`, `InvalidArgs`, `LimitsExceeded`.&#10;&#10;Source: \
    R40, R50, L2, L4, L12."/>
        <arg name="label" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="id" type="s" direction="out"/>
      </method>
      <method name="CancelEnroll">
        <annotation name="org.gtk.GDBus.DocString" value="Cancels the enrolment of this caller on \
    this sensor.&#10;&#10;Its Enroll call is answered with `org.localauth.Error.AppCancel`. \
    Nothing running: nothing happens."/>
      </method>
      <method name="ListLearned">
        <annotation name="org.gtk.GDBus.DocString" value="Lists what the sensor has learned of the \
    user since the enrolment: its id, the id of the template that it is a part of, and when it was \
    learned (Unix seconds).&#10;&#10;Empty for a sensor that doesn't learn. It is no part of the \
    domain state.&#10;&#10;Options: as of ListTemplates.&#10;&#10;Errors: as of \
    ListTemplates.&#10;&#10;Source: L12."/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="learned" type="a(ssx)" direction="out">
          <annotation name="org.localauth.Type" value="LearnedEntry(id,template,learned)"/>
        </arg>
      </method>
      <method name="RemoveLearned">
        <annotation name="org.gtk.GDBus.DocString" value="Removes something that was learned; what \
    was enrolled stays, and so does the domain state.&#10;&#10;Options: as of \
    RemoveTemplate.&#10;&#10;Errors: as of RemoveTemplate.&#10;&#10;Source: L12."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="RenameTemplate">
        <annotation name="org.gtk.GDBus.DocString" value="Gives a template another \
    label.&#10;&#10;Labels are no part of the domain state; no passcode is needed. A label is as \
    in Enroll.&#10;&#10;Options: `uid` (u, of another user: root, or whom polkit lets; default the \
    caller's).&#10;&#10;Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; \
    `org.localauth.Error.BiometryNotAvailable`; `org.freedesktop.DBus.Error.AccessDenied`, \
    `InvalidArgs`.&#10;&#10;Source: L12."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="label" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="RemoveTemplate">
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Removes a template for \
    good.&#10;&#10;Options:&#10;- `context` (o, as in Enroll)&#10;- `timeout` (t, milliseconds), \
    `parent-window` (s), `activation-token` (s, as in Enroll)&#10;- `uid` (u, of another user: \
    root, or whom polkit lets; default the caller's)&#10;&#10;Errors: \
    `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; \
    `org.localauth.Error.BiometryNotAvailable` and those of the passcode prompt as in Enroll; \
    `org.freedesktop.DBus.Error.AccessDenied`, `InvalidArgs`.&#10;&#10;Source: R40, R50, L12."/>
        <arg name="id" type="s" direction="in"/>
        <arg name="options" type="a{sv}" direction="in"/>
      </method>
      <method name="RemoveAllTemplates">
        <annotation name="org.localauth.Timeout" value="none"/>
        <annotation name="org.gtk.GDBus.DocString" value="Removes all templates of the user on \
    this sensor and says how many there were.&#10;&#10;Options and errors are those of \
    RemoveTemplate; without templates the answer is 0.&#10;&#10;Source: R40, R50, L12."/>
        <arg name="options" type="a{sv}" direction="in"/>
        <arg name="removed" type="u" direction="out"/>
      </method>
      <signal name="Event">
        <annotation name="org.localauth.Delivery" value="unicast"/>
        <annotation name="org.gtk.GDBus.DocString" value="Progress of an enrolment, sent to its \
    caller only.&#10;&#10;Kinds and details:&#10;- `stage` (`stage` u, done so far; `stages` i, in \
    all, -1 unknown)&#10;- `busy` (`by` s, as in `org.localauth.Sensor1.Event`; it is waited \
    for)&#10;- `ready` (the sensor looks now: at first, and after `busy`)&#10;- `hint` (`hint` s, \
    as in `org.localauth.Sensor1.Event`)&#10;&#10;Receivers ignore kinds and keys that they don't \
    know."/>
        <arg name="kind" type="s"/>
        <arg name="detail" type="a{sv}"/>
      </signal>
      <property name="Name" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        <annotation name="org.gtk.GDBus.DocString" value="Name of the sensor: the last element of \
    its bus name.&#10;&#10;What the option `sensors` of an evaluation takes."/>
      </property>
      <property name="Description" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="The sensor's own words for people, \
    untrusted plain text."/>
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
      <property name="Available" type="b" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Whether the sensor could take part in an \
    evaluation now.&#10;&#10;Source: L3, L4."/>
      </property>
      <property name="Unavailability" type="s" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Why the sensor is not available; empty \
    when it is.&#10;&#10;One of `no-hardware`, `starting`, `lid-closed`, `suspended`, `crashed`, \
    `failed`, `incompatible`, `untrusted`, `remote-session`. One that is `starting` has not said \
    yet what it is: Evaluate and CanEvaluate wait for it, so long as a sensor may take to \
    start.&#10;&#10;Source: L2, L3, L4, L16, L26."/>
      </property>
      <property name="Instructions" type="a{ss}" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="What a person is asked to do, by \
    language, in the words of the sensor: untrusted plain text, stripped and at most 80 \
    characters. Empty: it has none, and the biometry type says what.&#10;&#10;Source: L14, L19."/>
      </property>
      <property name="EnrollStages" type="i" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Number of stages of an enrolment; -1 \
    unknown."/>
      </property>
    </interface>
    """

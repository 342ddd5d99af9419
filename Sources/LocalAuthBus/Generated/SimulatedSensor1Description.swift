// Made by dbus-codegen from dbus/org.localauth.SimulatedSensor1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.SimulatedSensor1`.
public enum SimulatedSensor1 {
    /// The name of the interface.
    public static let interface = "org.localauth.SimulatedSensor1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Sensor1")
}

extension SimulatedSensor1Interface {
    /// The members of `org.localauth.SimulatedSensor1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: SimulatedSensor1.interface,
        methods: [
            "Queue": .init(name: "Queue", input: "as", output: ""),
            "Touch": .init(name: "Touch", input: "b", output: ""),
            "SetPresent": .init(name: "SetPresent", input: "b", output: ""),
            "SetBiometryType": .init(name: "SetBiometryType", input: "u", output: ""),
            "SetStrength": .init(name: "SetStrength", input: "s", output: ""),
            "AddTemplate": .init(name: "AddTemplate", input: "us", output: "s"),
            "Reset": .init(name: "Reset", input: "", output: ""),
        ],
        properties: [
            .init(name: "Pending", signature: "as", isWritable: false, change: .value)
        ],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.SimulatedSensor1">
      <annotation name="org.gtk.GDBus.DocString" value="What a test or an app author drives the \
    simulated sensor with.&#10;&#10;Beside `org.localauth.Sensor1` on the same object. The methods \
    answer root and the sensor's own user, on the system bus root only; anybody else gets \
    `org.freedesktop.DBus.Error.AccessDenied`. The sensor starts as a present, `strong` \
    fingerprint sensor (or of the type of `--type`) without templates, and says in its Description \
    that it is simulated."/>
      <method name="Queue">
        <annotation name="org.gtk.GDBus.DocString" value="Appends outcomes that Verify consumes in \
    order.&#10;&#10;Each is `match` (the user's first template), `match:TEMPLATE`, `no-match`, \
    `hint:HINT`, `delay:MILLISECONDS`, `hang`, `disconnect` or `crash`. A queued match is one \
    stage of an enrolment as well. With an empty queue Verify waits for Touch.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` for another word: nothing is queued; `LimitsExceeded` \
    for a queue that would be too long."/>
        <arg name="outcomes" type="as" direction="in"/>
      </method>
      <method name="Touch">
        <annotation name="org.gtk.GDBus.DocString" value="Touches the sensor once, \
    now.&#10;&#10;`matching` false is a failed attempt. During an enrolment it is one of 5 stages; \
    with no operation running nothing happens."/>
        <arg name="matching" type="b" direction="in"/>
      </method>
      <method name="SetPresent">
        <annotation name="org.gtk.GDBus.DocString" value="Plugs the sensor in or \
    out.&#10;&#10;Out: a running operation ends with \
    `org.localauth.Sensor1.Error.Disconnected`."/>
        <arg name="present" type="b" direction="in"/>
      </method>
      <method name="SetBiometryType">
        <annotation name="org.gtk.GDBus.DocString" value="Makes it another kind of sensor: 0 \
    companion, 1 fingerprint, 2 face, 4 iris.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` for another number."/>
        <arg name="biometryType" type="u" direction="in"/>
      </method>
      <method name="SetStrength">
        <annotation name="org.gtk.GDBus.DocString" value="Makes it `strong`, `weak` or \
    `convenience`.&#10;&#10;Errors: `org.freedesktop.DBus.Error.InvalidArgs` for another word."/>
        <arg name="strength" type="s" direction="in"/>
      </method>
      <method name="AddTemplate">
        <annotation name="org.gtk.GDBus.DocString" value="Enrols a user without an operation, \
    behind the daemon's back; the reply is the id.&#10;&#10;Sends \
    TemplatesChanged.&#10;&#10;Source: L12."/>
        <arg name="uid" type="u" direction="in"/>
        <arg name="label" type="s" direction="in"/>
        <arg name="id" type="s" direction="out"/>
      </method>
      <method name="Reset">
        <annotation name="org.gtk.GDBus.DocString" value="Goes back to how the sensor \
    started.&#10;&#10;Present, `strong`, of the type of `--type`, no templates, an empty queue."/>
      </method>
      <property name="Pending" type="as" access="read">
        <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        <annotation name="org.gtk.GDBus.DocString" value="Queued outcomes that were not consumed \
    yet, the next one first."/>
      </property>
    </interface>
    """

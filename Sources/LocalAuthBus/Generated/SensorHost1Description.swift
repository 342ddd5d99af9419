// Made by dbus-codegen from dbus/org.localauth.SensorHost1.xml. Do not edit.
public import DBus

/// The names of `org.localauth.SensorHost1`.
public enum SensorHost1 {
    /// The name of the interface.
    public static let interface = "org.localauth.SensorHost1"

    /// Where the object with it is.
    public static let path = ObjectPath(trusted: "/org/localauth/Authentication1")
}

extension SensorHost1Interface {
    /// The members of `org.localauth.SensorHost1` and its introspection data.
    public nonisolated static let description = InterfaceDescription(
        name: SensorHost1.interface,
        methods: [
            "NoMatch": .init(name: "NoMatch", input: "tu", output: "u")
        ],
        properties: [],
        introspection: introspection
    )
}

private let introspection = """
    <interface name="org.localauth.SensorHost1">
      <annotation name="org.gtk.GDBus.DocString" value="What a sensor calls while it looks; for \
    sensors only.&#10;&#10;The object is on the connection that called Verify of \
    `org.localauth.Sensor1`: a sensor addresses that connection by its unique name. A failed \
    attempt is told by a call, not by a signal, because a bus whose queues are full drops signals, \
    and a dropped one would be a free attempt.&#10;&#10;Source: L17, L20."/>
      <method name="NoMatch">
        <annotation name="org.gtk.GDBus.DocString" value="One failed attempt of a Verify; answered \
    when it is counted and on the disk.&#10;&#10;`attempt` counts from 1 in each operation. The \
    sensor looks at nothing between the failed attempt and the answer, and not at all after an \
    answer of 0: Cancel follows. Without an answer (an error, or nothing within 5 s) it calls \
    again with the same number until Cancel comes; a number counts once, however often it is told. \
    A number that skips others is refused.&#10;&#10;Errors: \
    `org.freedesktop.DBus.Error.InvalidArgs` from another connection than the one that was asked, \
    for an operation that doesn't run (any more), for an enrolment, and for a number that is not \
    the next one or an earlier one; then nothing is counted. `org.freedesktop.DBus.Error.Failed` \
    when it can't be written.&#10;&#10;Source: R1, R3, L17, L20."/>
        <arg name="operation" type="t" direction="in"/>
        <arg name="attempt" type="u" direction="in"/>
        <arg name="attemptsLeft" type="u" direction="out"/>
      </method>
    </interface>
    """

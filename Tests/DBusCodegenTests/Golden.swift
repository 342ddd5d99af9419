/// A small interface and the sources that it must give.
enum Golden {
    static let xml = #"""
        <node name="/org/example/Door1">
          <interface name="org.example.Door1">
            <annotation name="org.localauth.BusName" value="org.example.House"/>
            <annotation name="org.gtk.GDBus.DocString" value="
              A door. It opens
              and closes."/>
            <annotation name="org.localauth.Errors" value="org.localauth.Door1.Error.Jammed"/>
            <method name="Open">
              <annotation name="org.gtk.GDBus.DocString" value="Opens it."/>
              <annotation name="org.localauth.Stream" value="path"/>
              <arg name="key" type="(su)" direction="in">
                <annotation name="org.localauth.Type" value="Key(name,teeth)"/>
              </arg>
              <arg name="open" type="b" direction="out"/>
              <arg name="angle" type="d" direction="out">
                <annotation name="org.gtk.GDBus.DocString" value="In degrees."/>
              </arg>
            </method>
            <method name="Close">
              <annotation name="org.gtk.GDBus.DocString" value="Closes it."/>
            </method>
            <signal name="Event">
              <annotation name="org.gtk.GDBus.DocString" value="It moves."/>
              <annotation name="org.localauth.Delivery" value="unicast"/>
              <arg name="kind" type="s"/>
              <arg name="detail" type="a{sv}"/>
            </signal>
            <property name="Width" type="u" access="readwrite">
              <annotation name="org.gtk.GDBus.DocString" value="In mm."/>
            </property>
          </interface>
        </node>
        """#

    static let service = #"""
        // Made by dbus-codegen from dbus/org.example.Door1.xml. Do not edit.
        public import DBus

        /// A door.
        ///
        /// It opens and closes.
        @BusActor
        public protocol Door1Service: AnyObject {
            /// Opens it.
            ///
            /// - `angle`: In degrees.
            func open(key: Key, call: IncomingCall) throws(DBusError) -> Answer<(open: Bool, angle: Double)>

            /// Closes it.
            func close(call: IncomingCall) throws(DBusError) -> Answer<Void>

            /// In mm.
            func width(for peer: Peer?) throws(DBusError) -> UInt32

            /// Sets `Width`.
            func setWidth(_ value: UInt32, by peer: Peer) throws(DBusError)
        }

        /// Serves `org.example.Door1` by a `Door1Service`, which it keeps.
        public struct Door1Interface: ServedInterface {
            private let service: any Door1Service

            /// Makes the adapter of a service.
            public init(_ service: any Door1Service) {
                self.service = service
            }

            /// Decodes a call, hands it to the service and answers it.
            public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
                switch member {
                case "Open": try open(call)
                case "Close": try close(call)
                default: throw DBusError(.unknownMethod, "There is no such method.")
                }
            }

            /// Writes the value of a property.
            public func get(
                _ property: String,
                for peer: Peer?,
                into writer: inout MessageWriter
            ) throws(DBusError) {
                switch property {
                case "Width": try writer.write(service.width(for: peer))
                default: throw DBusError(.unknownProperty, "There is no such property.")
                }
            }

            /// Reads the new value of a property and hands it to the service.
            public func set(
                _ property: String,
                from reader: inout MessageReader,
                by peer: Peer
            ) throws(DBusError) {
                switch property {
                case "Width": try service.setWidth(reader.read(UInt32.self), by: peer)
                default: throw DBusError(.propertyReadOnly, "The property is read-only.")
                }
            }

            private func open(_ call: IncomingCall) throws(DBusError) {
                let input = try call.read("(su)") { (reader) throws(DBusError) in
                    try reader.read(Key.self)
                }
                let answer = try service.open(key: input, call: call)
                call.answer(answer, "bd") { (value, writer) throws(DBusError) in
                    try writer.write(value.open)
                    try writer.write(value.angle)
                }
            }

            private func close(_ call: IncomingCall) throws(DBusError) {
                try call.read("") { (_) throws(DBusError) in }
                let answer = try service.close(call: call)
                call.answer(answer, "") { (_, _) throws(DBusError) in }
            }
        }

        /// Sends the signals of `org.example.Door1` from one object.
        @BusActor
        public struct Door1Signals {
            private let connection: Connection
            private let path: ObjectPath

            /// Makes the sender of the object at a path.
            public init(_ connection: Connection, path: ObjectPath) {
                self.connection = connection
                self.path = path
            }

            /// It moves.
            public func event(kind: String, detail: [String: Variant], to destination: String) {
                connection.emit(
                    path: path,
                    interface: Door1.interface,
                    member: "Event",
                    signature: "sa{sv}",
                    to: destination
                ) { (writer) throws(DBusError) in
                    try writer.write(kind)
                    try writer.write(detail)
                }
            }
        }
        """#

    static let description = #"""
        // Made by dbus-codegen from dbus/org.example.Door1.xml. Do not edit.
        public import DBus

        /// The names of `org.example.Door1`.
        public enum Door1 {
            /// The name of the interface.
            public static let interface = "org.example.Door1"

            /// Where the object with it is.
            public static let path = ObjectPath(trusted: "/org/example/Door1")

            /// The bus name of the program that has the object.
            public static let busName = "org.example.House"
        }

        extension Door1Interface {
            /// The members of `org.example.Door1` and its introspection data.
            public nonisolated static let description = InterfaceDescription(
                name: Door1.interface,
                methods: [
                    "Open": .init(name: "Open", input: "(su)", output: "bd"),
                    "Close": .init(name: "Close", input: "", output: ""),
                ],
                properties: [
                    .init(name: "Width", signature: "u", isWritable: true, change: .value)
                ],
                introspection: introspection
            )
        }

        private let introspection = """
            <interface name="org.example.Door1">
              <annotation name="org.gtk.GDBus.DocString" value="A door. It opens and closes."/>
              <annotation name="org.localauth.Errors" value="org.localauth.Door1.Error.Jammed"/>
              <method name="Open">
                <annotation name="org.gtk.GDBus.DocString" value="Opens it."/>
                <annotation name="org.localauth.Stream" value="path"/>
                <arg name="key" type="(su)" direction="in">
                  <annotation name="org.localauth.Type" value="Key(name,teeth)"/>
                </arg>
                <arg name="open" type="b" direction="out"/>
                <arg name="angle" type="d" direction="out">
                  <annotation name="org.gtk.GDBus.DocString" value="In degrees."/>
                </arg>
              </method>
              <method name="Close">
                <annotation name="org.gtk.GDBus.DocString" value="Closes it."/>
              </method>
              <signal name="Event">
                <annotation name="org.gtk.GDBus.DocString" value="It moves."/>
                <annotation name="org.localauth.Delivery" value="unicast"/>
                <arg name="kind" type="s"/>
                <arg name="detail" type="a{sv}"/>
              </signal>
              <property name="Width" type="u" access="readwrite">
                <annotation name="org.gtk.GDBus.DocString" value="In mm."/>
              </property>
            </interface>
            """
        """#

    static let proxy = #"""
        // Made by dbus-codegen from dbus/org.example.Door1.xml. Do not edit.
        public import DBus

        /// Calls `org.example.Door1` of one object; the docs are at `Door1Service`.
        @BusActor
        public struct Door1Proxy: Sendable {
            private nonisolated static let interface = Door1.interface

            /// What the calls go over.
            public let connection: Connection

            /// The bus name that the calls go to.
            public let destination: String

            /// The object that the calls go to.
            public let path: ObjectPath

            /// Makes the proxy of an object; nothing is sent.
            public init(_ connection: Connection, destination: String, path: ObjectPath) {
                self.connection = connection
                self.destination = destination
                self.path = path
            }

            /// Opens it.
            public func open(
                key: Key,
                timeout: Duration? = Connection.noTimeout
            ) async throws(DBusError) -> (open: Bool, angle: Double) {
                let reply = try await connection.call(
                    to: destination,
                    path: path,
                    interface: Self.interface,
                    member: "Open",
                    signature: "(su)",
                    timeout: timeout
                ) { (writer) throws(DBusError) in
                    try writer.write(key)
                }
                return try reply.read("bd") { (reader) throws(DBusError) in
                    (open: try reader.read(Bool.self), angle: try reader.read(Double.self))
                }
            }

            /// Starts `Open` and follows its events until the reply.
            public func openStream(
                key: Key
            ) throws(DBusError) -> StreamingCall<(open: Bool, angle: Double)> {
                try connection.stream(
                    to: destination,
                    path: path,
                    interface: Self.interface,
                    member: "Open",
                    signature: "(su)",
                    matching: .path
                ) { (writer) throws(DBusError) in
                    try writer.write(key)
                } reply: { (reply) throws(DBusError) in
                    try reply.read("bd") { (reader) throws(DBusError) in
                        (open: try reader.read(Bool.self), angle: try reader.read(Double.self))
                    }
                }
            }

            /// Closes it.
            public func close(timeout: Duration? = nil) async throws(DBusError) {
                let reply = try await connection.call(
                    to: destination,
                    path: path,
                    interface: Self.interface,
                    member: "Close",
                    signature: "",
                    timeout: timeout
                )
                try reply.read("") { (_) throws(DBusError) in }
            }

            /// Sends `Close` and asks for no reply.
            public func sendClose() {
                connection.send(
                    to: destination,
                    path: path,
                    interface: Self.interface,
                    member: "Close",
                    signature: ""
                )
            }

            /// In mm.
            public func width() async throws(DBusError) -> UInt32 {
                try await connection.property(
                    "Width",
                    of: Self.interface,
                    at: path,
                    on: destination,
                    as: UInt32.self
                )
            }

            /// Sets `Width`.
            public func setWidth(_ value: UInt32) async throws(DBusError) {
                try await connection.setProperty(
                    "Width",
                    of: Self.interface,
                    at: path,
                    on: destination,
                    to: value
                )
            }

            /// It moves.
            ///
            /// The sender is a unique name; where it is left out, `destination` must be one.
            public func onEvent(
                sender: String? = nil,
                _ body: @escaping @BusActor (_ kind: String, _ detail: [String: Variant]) -> Void
            ) -> EventSource {
                connection.subscribe(
                    sender: sender ?? destination,
                    path: path,
                    interface: Self.interface,
                    member: "Event",
                    broadcast: false
                ) { message in
                    let values = try? message.read("sa{sv}") { (reader) throws(DBusError) in
                        (
                            kind: try reader.read(String.self),
                            detail: try reader.read([String: Variant].self)
                        )
                    }
                    guard let values else { return }
                    body(values.kind, values.detail)
                }
            }

            /// All properties with their present values.
            public func properties(timeout: Duration? = nil) async throws(DBusError) -> [String: Variant] {
                try await connection.properties(
                    of: Self.interface,
                    at: path,
                    on: destination,
                    timeout: timeout
                )
            }

            /// Tells what properties have changed, with the new values of some.
            ///
            /// The sender is a unique name; where it is left out, `destination` must be one. Without
            /// `broadcast` only what is sent to this connection by name is told.
            public func onPropertiesChanged(
                sender: String? = nil,
                broadcast: Bool = true,
                _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
            ) -> EventSource {
                connection.onPropertiesChanged(
                    of: Self.interface,
                    at: path,
                    sender: sender ?? destination,
                    broadcast: broadcast,
                    body
                )
            }
        }
        """#

    static let types = #"""
        // Made by dbus-codegen from dbus/*.xml. Do not edit.
        public import DBus

        /// The structure `(su)` of the wire.
        public struct Key: WireType, Hashable, Sendable {
            /// The D-Bus type.
            public static let signature = "(su)"

            /// Field 1, a `s`.
            public let name: String

            /// Field 2, a `u`.
            public let teeth: UInt32

            /// Makes one of its fields.
            public init(name: String, teeth: UInt32) {
                self.name = name
                self.teeth = teeth
            }

            /// Reads one from a message.
            public init(from reader: inout MessageReader) throws(DBusError) {
                self = try reader.structure("su") { (reader) throws(DBusError) in
                    Self(name: try reader.read(String.self), teeth: try reader.read(UInt32.self))
                }
            }

            /// Writes it into a message.
            public func write(to writer: inout MessageWriter) throws(DBusError) {
                try writer.structure("su") { (writer) throws(DBusError) in
                    try writer.write(name)
                    try writer.write(teeth)
                }
            }
        }
        """#

    static let errors = #"""
        // Made by dbus-codegen from dbus/*.xml. Do not edit.
        public import DBus

        extension DBusError.Name {
            /// `org.localauth.Door1.Error.Jammed`.
            public static let doorJammed: Self = "org.localauth.Door1.Error.Jammed"
        }
        """#
}

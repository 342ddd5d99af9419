import DBusModel
import Testing

@Suite("Interfaces")
struct InterfaceTests {
    private static let event =
        "<signal name='Event'>\(doc("E."))<annotation name='org.localauth.Delivery'"
        + " value='unicast'/><arg name='kind' type='s'/><arg name='detail' type='a{sv}'/></signal>"

    private static func streaming(_ kind: String, _ argument: String = "") -> String {
        "<method name='Go'>\(doc("G."))<annotation name='org.localauth.Stream' value='\(kind)'/>"
            + "\(argument)</method>"
    }

    @Test("A whole interface is read in the order of the file")
    func whole() throws {
        let opens = "\n  Opens\n  it.\n\n  Needs:\n  - a key\n    or two\n  - time\n"
        let text = interface(
            """
            <method name="Open">\(doc(opens))
              <annotation name="org.localauth.Stream" value="operation"/>
              <arg name="operation" type="t"/>
              <arg name="keys" type="a(su)" direction="in">
                <annotation name="org.localauth.Type" value="Key(name,teeth)"/>\(doc("All."))
              </arg>
              <arg name="ok" type="b" direction="out"/>
            </method>
            <signal name="Event">\(doc("Something."))
              <annotation name="org.localauth.Delivery" value="unicast"/>
              <arg name="operation" type="t"/><arg name="kind" type="s"/>
              <arg name="detail" type="a{sv}" direction="out"/>
            </signal>
            <property name="Width" type="u" access="readwrite">\(doc("In mm."))
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            </property>
            <property name="Color" type="s" access="read">\(doc("RAL."))</property>
            """
        )
        let door = try Interface(xml: Array(text.utf8), file: "dbus/x.xml")
        let open = try #require(door.methods.first)
        #expect(open.doc == "Opens it.\n\nNeeds:\n- a key or two\n- time")
        #expect(open.stream == .operation)
        #expect(open.inputs.signature == "ta(su)")
        #expect(open.inputs.map(\.doc) == [nil, "All."])
        #expect(open.inputs.last?.structure?.name == "Key")
        #expect(open.inputs.last?.structure?.fields == ["name", "teeth"])
        #expect(open.outputs.map(\.name) == ["ok"])
        #expect(door.signals.map(\.isUnicast) == [true])
        #expect(door.properties.map(\.isWritable) == [true, false])
        #expect(door.properties.map(\.change) == [.constant, .value])
        #expect(door.errors.isEmpty)
    }

    @Test(
        "What has no doc is refused at its line",
        arguments: [
            ("<method name='Open'/>", "the method 'Open'"),
            ("<signal name='Opened'/>", "the signal 'Opened'"),
            ("<property name='Width' type='u' access='read'/>", "the property 'Width'"),
        ]
    )
    func undocumented(_ member: String, _ what: String) {
        #expect(failure(interface("\n" + member)) == "dbus/x.xml:5: \(what) has no doc")
    }

    @Test("An interface without a doc, or with an empty one, is refused")
    func undocumentedInterface() {
        let without = "<node>\n<interface name='org.example.Door1'/></node>"
        let empty = "<node><interface name='org.example.Door1'>\n\(doc(" \n "))</interface></node>"
        #expect(failure(without) == "dbus/x.xml:2: the interface 'org.example.Door1' has no doc")
        #expect(
            failure(empty) == "dbus/x.xml:2: the annotation 'org.gtk.GDBus.DocString' is empty"
        )
    }

    @Test(
        "A member that breaks a rule is refused at its line",
        arguments: [
            ("<method/>", "a method's name is missing"),
            ("<method name='open'/>", "'open' is invalid as a method's name"),
            ("<method name='Open-It'/>", "'Open-It' is invalid as a method's name"),
            ("<signal name='2nd'/>", "'2nd' is invalid as a signal's name"),
            (
                "<method name='A'>\(doc("A."))</method><method name='A'/>",
                "the method 'A' is there twice"
            ),
            ("<method name='A' id='1'/>", "the attribute 'id' of <method> is unknown"),
            ("<methods/>", "<methods> inside <interface> is unknown"),
            ("<method name='A'><property/></method>", "<property> inside <method> is unknown"),
            ("<annotation name='a.b'/>", "an annotation needs a name and a value"),
            (
                "<annotation name='org.localauth.Eros' value='x'/>",
                "the annotation 'org.localauth.Eros' of <interface> is unknown"
            ),
            (
                "<annotation name='org.localauth.Stream' value='path'/>",
                "the annotation 'org.localauth.Stream' of <interface> is unknown"
            ),
            (doc("Again."), "the annotation 'org.gtk.GDBus.DocString' is there twice"),
            (
                "<method name='Go'>\(doc("G."))"
                    + "<annotation name='org.localauth.Timeout' value='60'/></method>",
                "the value '60' of 'org.localauth.Timeout' is unknown"
            ),
            (streaming("row"), "the value 'row' of 'org.localauth.Stream' is unknown"),
            (
                streaming("path"),
                "the stream 'path' of 'Go' has no unicast signal 'Event' that fits"
            ),
            (
                streaming("operation", "<arg name='operation' type='t'/>") + event,
                "the stream 'operation' of 'Go' has no unicast signal 'Event' that fits"
            ),
        ]
    )
    func members(_ text: String, _ message: String) {
        #expect(failure(interface(text)) == "dbus/x.xml:4: \(message)")
    }

    @Test("Errors are names of D-Bus, each once, with any space between them")
    func errors() throws {
        func annotation(_ names: String) -> String {
            interface("<annotation name='org.localauth.Errors' value='\(names)'/>")
        }
        let door = try Interface(xml: Array(annotation("\n a.b\n  a.c ").utf8), file: "dbus/x.xml")
        #expect(door.errors == ["a.b", "a.c"])
        #expect(failure(annotation("a")) == "dbus/x.xml:2: 'a' is no error name")
        #expect(failure(annotation("a.b a.b")) == "dbus/x.xml:2: the error 'a.b' is there twice")
    }

    @Test("A stream with its event is accepted")
    func stream() {
        #expect(failure(interface(Self.streaming("path") + Self.event)) == nil)
        #expect(failure(interface(Self.streaming("call") + Self.event)) == nil)
    }

    @Test(
        "An argument that breaks a rule is refused",
        arguments: [
            ("<arg type='s'/>", "an argument's name is missing"),
            ("<arg name='a'/>", "the type is missing"),
            ("<arg name='A' type='s'/>", "'A' is invalid as an argument's name"),
            ("<arg name='a_b' type='s'/>", "'a_b' is invalid as an argument's name"),
            ("<arg name='a' type='ss'/>", "'ss' is not exactly one complete type"),
            (
                "<arg name='a' type='a{vs}'/>",
                "the key of a dictionary in 'a{vs}' is not a basic type"
            ),
            ("<arg name='a' type='s' direction='up'/>", "the direction of 'a' is 'up'"),
            (
                "<arg name='a' type='s'/><arg name='a' type='s' direction='out'/>",
                "the argument 'a' is there twice"
            ),
        ]
    )
    func arguments(_ text: String, _ message: String) {
        let method = "<method name='A'>\(doc("A."))\(text)</method>"
        #expect(failure(interface(method)) == "dbus/x.xml:4: \(message)")
    }

    @Test(
        "A structure whose names don't fit is refused",
        arguments: ["Key", "Key(", "key(a,b)", "Key(a)", "Key(a,a)", "Key(a,)", "Key(a,b,c)"]
    )
    func structures(_ names: String) {
        let method = """
            <method name='A'>\(doc("A."))<arg name='a' type='a(su)'>
            <annotation name='org.localauth.Type' value='\(names)'/></arg></method>
            """
        #expect(failure(interface(method))?.hasPrefix("dbus/x.xml:4: '\(names)' ") == true)
    }

    @Test(
        "A property that breaks a rule is refused",
        arguments: [
            ("type='u' access='write'", "the property 'P' is neither 'read' nor 'readwrite'"),
            ("type='u'", "the property 'P' is neither 'read' nor 'readwrite'"),
            ("access='read'", "the type is missing"),
            ("type='z' access='read'", "'z' in 'z' is not a D-Bus type"),
        ]
    )
    func properties(_ attributes: String, _ message: String) {
        let property = "<property name='P' \(attributes)>\(doc("P."))</property>"
        #expect(failure(interface(property)) == "dbus/x.xml:4: \(message)")
    }

    @Test("A file holds one interface, under <node>")
    func root() {
        #expect(failure("<nodes/>") == "dbus/x.xml:1: the root is not <node> but <nodes>")
        #expect(failure("<node/>") == "dbus/x.xml:1: the file has 0 interfaces, not one")
        #expect(
            failure("<node><interface name='Door'/></node>")
                == "dbus/x.xml:1: 'Door' is invalid as an interface's name"
        )
    }

    @Test("The object path and the bus name are read, and stay out of the introspection data")
    func names() throws {
        let text = named("/org/example/Door1", "org.example.House")
        let door = try Interface(xml: Array(text.utf8), file: "dbus/x.xml")
        #expect(door.path == "/org/example/Door1")
        #expect(door.busName == "org.example.House")
        #expect(door.annotations.map(\.name) == ["org.gtk.GDBus.DocString"])
        let plain = try Interface(xml: Array(interface("").utf8), file: "dbus/x.xml")
        #expect(plain.path == nil)
        #expect(plain.busName == nil)
    }

    @Test(
        "A name of a node that is no object path is refused",
        arguments: ["", "/", "org/example", "/org/", "//org", "/org/a-b", "/org/Ä"]
    )
    func path(_ path: String) {
        #expect(failure(named(path, "a.b")) == "dbus/x.xml:1: '\(path)' is no object path")
    }

    @Test("A bus name that is none is refused", arguments: ["House", "org..House", ":1.5", "a.b."])
    func busName(_ name: String) {
        #expect(failure(named("/a", name)) == "dbus/x.xml:2: '\(name)' is no bus name")
    }

    private func named(_ path: String, _ busName: String) -> String {
        interface("<annotation name='org.localauth.BusName' value='\(busName)'/>")
            .replacing("<node>", with: "<node name='\(path)'>")
    }
}

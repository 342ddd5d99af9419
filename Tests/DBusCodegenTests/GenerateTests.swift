import DBusCodegen
import DBusModel
import Testing

private func read(_ members: String, name: String = "org.example.Door1") throws -> Interface {
    let text = """
        <node><interface name="\(name)">
        \(doc("A door."))
        \(members)
        </interface></node>
        """
    return try Interface(xml: Array(text.utf8), file: "dbus/x.xml")
}

private func doc(_ text: String) -> String {
    "<annotation name=\"org.gtk.GDBus.DocString\" value=\"\(text)\"/>"
}

private func method(_ arguments: String, name: String = "Open") -> String {
    "<method name='\(name)'>\(doc("Opens."))\(arguments)</method>"
}

private func structure(_ names: String, type: String = "a(su)") -> String {
    method(
        "<arg name='keys' type='\(type)'>"
            + "<annotation name='org.localauth.Type' value='\(names)'/></arg>"
    )
}

private func errors(_ names: String) -> String {
    "<annotation name='org.localauth.Errors' value='\(names)'/>"
}

private func failure(_ interfaces: Interface...) -> String? {
    do throws(SourceError) {
        _ = try generate(interfaces)
        return nil
    } catch {
        return error.description
    }
}

@Suite("The generator")
struct GenerateTests {
    @Test("A small interface gives exactly the expected sources")
    func golden() throws {
        let interface = try Interface(xml: Array(Golden.xml.utf8), file: "dbus/x.xml")
        let files = try generate([interface])
        #expect(
            files.map(\.name) == [
                "Door1Service.swift", "Door1Description.swift", "Door1Proxy.swift", "Types.swift",
                "Errors.swift",
            ]
        )
        let expected = [
            Golden.service, Golden.description, Golden.proxy, Golden.types, Golden.errors,
        ]
        for (file, text) in zip(files, expected) {
            #expect(file.text == text + "\n", "\(file.name)")
        }
    }

    @Test("A method that may wait for a person is called without a timeout, any other with one")
    func timeout() throws {
        let unbounded = "<annotation name='org.localauth.Timeout' value='none'/>"
        for (annotation, value) in [("", "nil"), (unbounded, "Connection.noTimeout")] {
            let files = try generate([try read(method(annotation))])
            let proxy = try #require(files.first { $0.name == "Door1Proxy.swift" })
            #expect(proxy.text.contains("func open(timeout: Duration? = \(value))"))
            #expect(proxy.text.contains("timeout: timeout"))
        }
    }

    @Test("The order of the interfaces makes no difference")
    func order() throws {
        let front = try read(method(""), name: "org.example.Front1")
        let back = try read(method(""), name: "org.example.Back1")
        #expect(try generate([front, back]) == generate([back, front]))
    }

    @Test("A Swift keyword as a name is quoted")
    func keywords() throws {
        let interface = try read(
            method(
                "<arg name='in' type='s'/><arg name='to' type='s'/>"
                    + "<arg name='where' type='b' direction='out'/>"
                    + "<arg name='is' type='b' direction='out'/>",
                name: "Repeat"
            )
        )
        let files = try generate([interface])
        let service = try #require(files.first).text
        #expect(service.contains("Answer<(`where`: Bool, `is`: Bool)>"))
        #expect(service.contains("service.`repeat`(in: input.`in`, to: input.to, call: call)"))
        #expect(service.contains("try writer.write(value.`where`)"))
    }

    @Test("Backslashes, quotes and markup in a doc stay text")
    func escaping() throws {
        let interface = try read(
            "<method name='Open'>\(doc(#"\(x) &quot;&quot; &lt;b&gt; &amp;"#))</method>"
        )
        let text = try generate([interface])[1].text
        #expect(text.contains(#"value="\\(x) &quot;&quot; &lt;b&gt; &amp;""#))
    }

    @Test(
        "A name that the generated code needs is refused",
        arguments: [
            "call", "connection", "destination", "path", "reply", "self", "timeout", "writer",
        ]
    )
    func reserved(_ name: String) throws {
        let interface = try read(method("<arg name='\(name)' type='s'/>"))
        #expect(
            failure(interface)
                == "dbus/x.xml:3: the argument name '\(name)' is taken by the generated code"
        )
    }

    @Test("A structure that has no name is refused", arguments: ["(su)", "aa(su)", "a{s(su)}"])
    func unnamedStructure(_ type: String) throws {
        let interface = try read(method("<arg name='keys' type='\(type)'/>"))
        #expect(
            failure(interface)?.hasPrefix("dbus/x.xml:3: the argument 'keys' has a str") == true
        )
        let property = try read(
            "<property name='P' type='\(type)' access='read'>\(doc("P."))</property>"
        )
        #expect(failure(property) == "dbus/x.xml:3: the property 'P' has a structure")
    }

    @Test("A structure inside a named one is refused")
    func nestedStructure() throws {
        #expect(failure(try read(structure("Key(name,size)", type: "a(s(uu))"))) != nil)
    }

    @Test("Two interfaces may share a structure, and must agree about it")
    func sharedStructure() throws {
        let front = try read(structure("Key(name,size)"), name: "org.example.Front1")
        let back = try read(structure("Key(name,size)"), name: "org.example.Back1")
        let side = try read(structure("Key(name,teeth)"), name: "org.example.Side1")
        #expect(failure(front, back) == nil)
        #expect(
            failure(front, side) == "dbus/x.xml:3: the structure 'Key' is another one elsewhere"
        )
    }

    @Test("Error names become Swift names, each once")
    func errorNames() throws {
        let names = "org.localauth.Error.Busy org.localauth.Keychain1.Error.NotFound"
        let front = try read(errors(names), name: "org.example.Front1")
        let back = try read(errors("org.localauth.Error.Busy"), name: "org.example.Back1")
        let text = try #require(try generate([front, back]).last).text
        #expect(text.contains("let busy: Self = \"org.localauth.Error.Busy\""))
        #expect(
            text.contains("let keychainNotFound: Self = \"org.localauth.Keychain1.Error.NotFound\"")
        )
        #expect(text.split(separator: "static let").count == 3)
    }

    @Test(
        "An error name of another form is refused",
        arguments: ["org.example.Error.Busy", "org.localauth.Busy", "org.localauth.A1.B1.Error.C"]
    )
    func foreignErrors(_ name: String) throws {
        #expect(
            failure(try read(errors(name)))?.hasPrefix("dbus/x.xml:1: '\(name)' is not like")
                == true
        )
    }

    @Test("Two interfaces with one Swift name are refused")
    func samePrefix() throws {
        let one = try read("", name: "org.example.Door1")
        let other = try read("", name: "org.other.Door1")
        #expect(failure(one, other)?.contains("have the same Swift name") == true)
    }
}

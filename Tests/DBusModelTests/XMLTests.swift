import DBusModel
import Testing

/// Reads a text as `dbus/x.xml` and gives the error that it ends with.
func failure(_ text: String) -> String? { failure(Array(text.utf8)) }

func failure(_ bytes: [UInt8]) -> String? {
    do throws(SourceError) {
        _ = try Interface(xml: bytes, file: "dbus/x.xml")
        return nil
    } catch {
        return error.description
    }
}

/// An interface in line 2 with its doc in line 3 and members from line 4 on.
func interface(_ members: String) -> String {
    """
    <node>
      <interface name="org.example.Door1">
        \(doc("A door."))
    \(members)
      </interface>
    </node>
    """
}

func doc(_ text: String) -> String {
    "<annotation name=\"org.gtk.GDBus.DocString\" value=\"\(text)\"/>"
}

@Suite("XML")
struct XMLTests {
    @Test("The declaration, a document type, comments and entities are understood")
    func whole() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a - b -->
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
              'http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd'>
            <node
            >
              <interface name = 'org.example.Door1'>
                \(doc("&lt;A&gt; &quot;d&apos;r&quot; &amp; &#x41;&#66;."))
              </interface >
            </node>
            <!-- the end -->
            """
        let interface = try Interface(xml: Array(text.utf8), file: "dbus/x.xml")
        #expect(interface.name == "org.example.Door1")
        #expect(interface.doc == "<A> \"d'r\" & AB.")
        #expect(interface.line == 7)
    }

    @Test(
        "A text that is not well formed is refused at its line",
        arguments: [
            ("", "1: the root element is missing"),
            ("\n\nx", "3: the root element is missing"),
            ("<node>", "1: the element <node> doesn't end"),
            ("<node>\n</nose>", "2: </nose> ends <node> of line 1"),
            ("<node>\n<a>\n</node>", "3: </node> ends <a> of line 2"),
            ("<node>\ntext</node>", "2: text inside <node>"),
            ("<node>\n<![CDATA[x]]></node>", "2: a name is missing"),
            ("<node>\n<?php x?></node>", "2: a name is missing"),
            ("<node\n/><node/>", "2: something follows the root element"),
            ("<node\na='1'\na='2'/>", "3: the attribute 'a' is there twice"),
            ("<node a='1'b='2'/>", "1: a space is missing in front of an attribute"),
            ("<node a/>", "1: the attribute 'a' has no value"),
            ("<node a=1/>", "1: the value of 'a' is not quoted"),
            ("<node\na='1", "2: the value of 'a' doesn't end"),
            ("<node a='\n<'/>", "2: '<' in the value of 'a'"),
            ("<node a='&'/>", "1: an '&' without its ';'"),
            ("<node a='&nbsp;'/>", "1: the entity '&nbsp;' is unknown"),
            ("<node a='&#0;'/>", "1: the entity '&#0;' is unknown"),
            ("<node a='&#+65;'/>", "1: the entity '&#+65;' is unknown"),
            ("<node a='&#xD800;'/>", "1: the entity '&#xD800;' is unknown"),
            ("<node a='&#x110000;'/>", "1: the entity '&#x110000;' is unknown"),
            ("<node a='&#;'/>", "1: the entity '&#;' is unknown"),
            ("<!-- a\n-- b --><node/>", "2: '--' inside a comment"),
            ("\n<!-- a\n", "2: the comment doesn't end"),
            ("<?xml version='1.1'?><node/>", "1: the XML declaration has 'version=\"1.1\"'"),
            ("<?xml encoding='UTF-8'?><node/>", "1: the XML declaration has no version"),
            ("<?xml version='1.0'\n><node/>", "2: the XML declaration doesn't end with '?>'"),
            ("<!DOCTYPE node [\n<!ENTITY a 'b'>]>", "1: a DOCTYPE with declarations is refused"),
            ("<!DOCTYPE node PUBLIC 'a'>", "1: a quoted identifier is missing in the DOCTYPE"),
            ("<!DOCTYPE node SYSTEM '\n", "2: the DOCTYPE doesn't end"),
            ("<node>\n\u{1}</node>", "2: a control character"),
        ]
    )
    func malformed(_ text: String, _ message: String) {
        #expect(failure(text) == "dbus/x.xml:\(message)")
    }

    @Test("What is not UTF-8 is refused")
    func encoding() {
        #expect(failure(Array("<node>".utf8) + [0xFF]) == "dbus/x.xml:1: the file is not UTF-8")
    }

    @Test("Every beginning of a valid text is refused, and none is fatal")
    func truncation() {
        let text =
            "<?xml version='1.0'?><!DOCTYPE node SYSTEM 'a'><!-- b -->" + interface("<!---->")
        #expect(failure(text) == nil)
        for count in 0..<text.utf8.count {
            #expect(failure(Array(text.utf8.prefix(count))) != nil)
        }
    }

    @Test("A text that is too deep, too long or too large is refused")
    func bounds() {
        let deep = String(repeating: "<a>", count: 300_000)
        #expect(failure(deep) == "dbus/x.xml:1: elements are more than 16 deep")
        let many = "<node>" + String(repeating: "<a/>", count: 10_000) + "</node>"
        #expect(failure(many) == "dbus/x.xml:1: there are more than 10000 elements")
        let wide = "<node" + (0...16).map { " a\($0)=''" }.joined() + "/>"
        #expect(failure(wide) == "dbus/x.xml:1: an element has more than 16 attributes")
        let long = "<node a='" + String(repeating: "x", count: 16_385) + "'/>"
        #expect(failure(long) == "dbus/x.xml:1: the value of 'a' is over 16384 bytes")
        let named = "<" + String(repeating: "n", count: 256) + "/>"
        #expect(failure(named) == "dbus/x.xml:1: a name is too long")
        let large = [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        #expect(failure(large) == "dbus/x.xml:1: the file is larger than 1048576 bytes")
    }
}

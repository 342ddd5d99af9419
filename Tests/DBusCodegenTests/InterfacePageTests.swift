import DBusModel
import Foundation
import TestSupport
import Testing

@Suite("The manual pages of the interfaces")
struct InterfacePageTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func page(_ file: String) async throws -> [String] {
        let words = ["scripts/interface-page", "dbus/\(file)"].map { root.appending(path: $0).path }
        let ended = try await ChildProcess(words).ended(within: .seconds(120))
        #expect(ended.status == 0, "\(ended.errors)")
        return ended.output.split(separator: "\n").map(String.init)
    }

    private static func list(_ arguments: [Argument]) -> String {
        arguments.map { "\($0.type.text) \($0.name)" }.joined(separator: ", ")
    }

    /// Each member in the order of the file, as the page should show it.
    private static func members(of interface: Interface) -> [String] {
        let methods = interface.methods.map { method in
            let answer = method.outputs.isEmpty ? "" : " \\(-> \(list(method.outputs))"
            return "\(method.name)(\(list(method.inputs)))\(answer)"
        }
        let signals = interface.signals.map { "\($0.name)(\(list($0.arguments)))" }
        let properties = interface.properties.map {
            "\($0.name): \($0.type.text), \($0.isWritable ? "readwrite" : "read")"
        }
        return methods + signals + properties
    }

    /// The letters and digits of a text: how it is set doesn't matter.
    private static func letters(_ text: String) -> String {
        text.replacing(/\\\[u[0-9A-F]+\]/, with: "").replacing("\\fB", with: "")
            .replacing("\\fP", with: "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    @Test("Every member of an interface is on its page with its shape and all its words")
    func members() async throws {
        let folder = Self.root.appending(path: "dbus").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".xml") }
        #expect(files.count >= 9)
        for file in files {
            let bytes = try [UInt8](Data(contentsOf: URL(filePath: "\(folder)/\(file)")))
            let interface = try Interface(xml: bytes, file: file)
            let page = try await Self.page(file)
            #expect(page.contains(".Dt \(interface.name.uppercased()) 5"))
            let shapes = page.filter { $0.hasPrefix(".Dl ") }.map { String($0.dropFirst(4)) }
            #expect(shapes == Self.members(of: interface), "\(file)")
            let said = Self.letters(page.filter { !$0.hasPrefix(".") }.joined())
            let docs =
                [interface.doc] + interface.methods.map(\.doc) + interface.signals.map(\.doc)
                + interface.properties.map(\.doc)
            for doc in docs {
                for paragraph in doc.split(separator: "\n\n").dropFirst()
                where !paragraph.hasPrefix("Source:") {
                    #expect(said.contains(Self.letters(String(paragraph))), "\(file): \(paragraph)")
                }
            }
        }
    }
}

import DBusCodegen
import DBusModel
import Foundation
import Testing

@Suite("The committed sources")
struct CurrentTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files(in directory: String, _ suffix: String) throws -> [String: [UInt8]] {
        let folder = root.appending(path: directory)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        let pairs = try names.filter { $0.hasSuffix(suffix) }
            .map { name in
                (name, try [UInt8](Data(contentsOf: folder.appending(path: name))))
            }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("They are what dbus-codegen makes of dbus/*.xml; if not, run `make generate`")
    func current() throws {
        let xml = try Self.files(in: "dbus", ".xml")
        let interfaces = try xml.sorted { $0.key < $1.key }
            .map { name, bytes in
                try Interface(xml: bytes, file: "dbus/\(name)")
            }
        #expect(interfaces.count >= 8)
        #expect(Set(xml.keys) == Set(interfaces.map { "\($0.name).xml" }))
        let made = try generate(interfaces)
        let committed = try Self.files(in: "Sources/LocalAuthBus/Generated", ".swift")
        #expect(Set(committed.keys) == Set(made.map(\.name)))
        for file in made {
            #expect(committed[file.name] == Array(file.text.utf8), "\(file.name) is not current")
        }
    }

    @Test("Calls that have a deadline of their own, or prompt, are made without a timeout")
    func timeouts() throws {
        var unbounded: [String] = []
        for (name, bytes) in try Self.files(in: "dbus", ".xml") {
            let interface = try Interface(xml: bytes, file: "dbus/\(name)")
            let proxy = try #require(
                try generate([interface]).first { $0.name.hasSuffix("Proxy.swift") }
            )
            for method in interface.methods {
                let name = method.name.prefix(1).lowercased() + method.name.dropFirst()
                let start = try #require(proxy.text.firstRange(of: "func \(name)(")).upperBound
                let call = proxy.text[start...].prefix { $0 != "{" }
                let isUnbounded = call.contains("timeout: Duration? = Connection.noTimeout")
                let hasDeadline =
                    method.doc.contains("`timeout`")
                    || method.inputs.contains { $0.name == "reason" }
                #expect(isUnbounded || !hasDeadline, "\(interface.name).\(method.name)")
                if isUnbounded { unbounded.append(method.name) }
            }
        }
        #expect(
            unbounded.sorted() == [
                "Decrypt", "Enroll", "Enroll", "Evaluate", "Evaluate", "EvaluateAccessControl",
                "KeyExchange", "Read", "RemoveAllTemplates", "RemoveTemplate", "Sign", "Verify",
            ]
        )
    }

    @Test("No line is over 100 columns")
    func shape() throws {
        for (name, bytes) in try Self.files(in: "Sources/LocalAuthBus/Generated", ".swift") {
            let lines = String(decoding: bytes, as: UTF8.self)
                .split(
                    separator: "\n",
                    omittingEmptySubsequences: false
                )
            #expect(lines.allSatisfy { $0.count <= 100 }, "\(name)")
        }
    }
}

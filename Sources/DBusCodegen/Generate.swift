public import DBusModel

/// A Swift source file that was made.
public struct GeneratedFile: Hashable, Sendable {
    /// `Context1Proxy.swift`.
    public let name: String

    /// The whole content.
    public let text: String
}

/// How the first line of every generated file starts.
public let generatedMark = "// Made by dbus-codegen from "

/// Makes the Swift sources of some interfaces: three files for each, the structures and the errors.
///
/// The same interfaces give the same text, whatever their order.
///
/// - Throws: `SourceError` for an interface that has no Swift form.
public func generate(_ interfaces: [Interface]) throws(SourceError) -> [GeneratedFile] {
    let interfaces = interfaces.sorted { $0.name < $1.name }
    try check(interfaces)
    var files: [GeneratedFile] = []
    for interface in interfaces {
        let origin = "dbus/\(interface.name).xml"
        files += [
            file("\(interface.prefix)Service", from: origin) { $0.service(interface) },
            file("\(interface.prefix)Description", from: origin) { $0.description(interface) },
            file("\(interface.prefix)Proxy", from: origin) { $0.proxy(interface) },
        ]
    }
    let structures = try structures(of: interfaces)
    if !structures.isEmpty {
        files.append(file("Types", from: "dbus/*.xml") { $0.types(structures) })
    }
    let errors = try errors(of: interfaces)
    if !errors.isEmpty {
        files.append(file("Errors", from: "dbus/*.xml") { $0.errors(errors) })
    }
    return files
}

private func file(
    _ name: String,
    from origin: String,
    _ body: (inout SourceText) -> Void
) -> GeneratedFile {
    var declarations = SourceText()
    body(&declarations)
    var head = SourceText()
    head.line("\(generatedMark)\(origin). Do not edit.")
    head.line("public import DBus")
    head.line()
    return GeneratedFile(name: name + ".swift", text: head.text + declarations.text)
}

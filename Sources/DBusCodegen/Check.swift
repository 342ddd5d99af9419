import DBusModel

/// Names that are already taken where the generated functions write their arguments.
private let reserved: Set<String> = [
    "call", "connection", "destination", "path", "reply", "self", "timeout", "writer",
]

/// Refuses what is valid in D-Bus but has no Swift form here.
func check(_ interfaces: [Interface]) throws(SourceError) {
    var prefixes: [String: Interface] = [:]
    for interface in interfaces {
        if let other = prefixes.updateValue(interface, forKey: interface.prefix) {
            throw interface.error(
                interface.line,
                "'\(interface.name)' and '\(other.name)' have the same Swift name"
            )
        }
        for method in interface.methods {
            for argument in method.inputs { try checkName(of: argument, in: interface) }
            for argument in method.inputs + method.outputs { try check(argument, in: interface) }
        }
        for argument in interface.signals.flatMap(\.arguments) {
            try checkName(of: argument, in: interface)
            try check(argument, in: interface)
        }
        for property in interface.properties where property.type.swift() == nil {
            throw interface.error(property.line, "the property '\(property.name)' has a structure")
        }
    }
}

private func checkName(of argument: Argument, in interface: Interface) throws(SourceError) {
    guard !reserved.contains(argument.name) else {
        throw interface.error(
            argument.line,
            "the argument name '\(argument.name)' is taken by the generated code"
        )
    }
}

private func check(_ argument: Argument, in interface: Interface) throws(SourceError) {
    let hasFields = argument.type.structure.map { $0.allSatisfy { $0.swift() != nil } } ?? true
    guard argument.type.swift(structure: argument.structure?.name) != nil, hasFields else {
        throw interface.error(
            argument.line,
            "the argument '\(argument.name)' has a structure that org.localauth.Type doesn't name"
        )
    }
}

extension Interface {
    func error(_ line: Int, _ message: String) -> SourceError {
        SourceError(file: file, line: line, message)
    }
}

import DBusModel

/// An error name and the Swift name for it.
struct ErrorName: Hashable {
    let name: String
    let swift: String
}

/// The errors that the interfaces name, each once.
///
/// - Throws: `SourceError` for a name that is not `org.localauth.[Interface.]Error.Name`.
func errors(of interfaces: [Interface]) throws(SourceError) -> [ErrorName] {
    var bySwift: [String: ErrorName] = [:]
    for interface in interfaces {
        for name in interface.errors {
            guard let swift = swiftName(ofError: name) else {
                throw interface.error(
                    interface.line,
                    "'\(name)' is not like 'org.localauth.Interface1.Error.Name'"
                )
            }
            let error = ErrorName(name: name, swift: swift)
            if let other = bySwift.updateValue(error, forKey: swift), other != error {
                throw interface.error(
                    interface.line,
                    "'\(name)' and '\(other.name)' have the same Swift name"
                )
            }
        }
    }
    return bySwift.values.sorted { $0.name < $1.name }
}

/// `keychainDuplicate` of `org.localauth.Keychain1.Error.Duplicate`.
private func swiftName(ofError name: String) -> String? {
    let elements = name.split(separator: ".")
    guard elements.starts(with: ["org", "localauth"]), let last = elements.last else { return nil }
    switch elements.count {
    case 4 where elements[2] == "Error":
        return lowerCamel(last)
    case 5 where elements[3] == "Error":
        let digits = elements[2].reversed().prefix { $0.isNumber }.count
        return lowerCamel(elements[2].dropLast(digits)) + last
    default:
        return nil
    }
}

extension SourceText {
    mutating func errors(_ errors: [ErrorName]) {
        block("extension DBusError.Name") { source in
            var separator = Separator()
            for error in errors {
                separator.next(&source)
                source.doc("`\(error.name)`.")
                source.choice(
                    "public static let \(quoted(error.swift)): Self =",
                    "\"\(error.name)\""
                )
            }
        }
    }
}

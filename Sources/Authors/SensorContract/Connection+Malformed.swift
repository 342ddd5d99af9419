import DBus

extension Connection {
    /// Calls a member with wrong arguments: the signature is "", "s" or "asas".
    func callWrongly(
        _ destination: String,
        _ path: ObjectPath,
        _ member: (interface: String, name: String),
        _ signature: String,
        within limit: Duration
    ) async throws {
        _ = try await call(
            to: destination,
            path: path,
            interface: member.interface,
            member: member.name,
            signature: signature,
            timeout: limit
        ) { writer throws(DBusError) in
            switch signature {
            case "s": try writer.write("text")
            case "asas":
                try writer.write(["a"])
                try writer.write(["b"])
            default: break
            }
        }
    }
}

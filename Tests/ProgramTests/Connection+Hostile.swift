import DBus
import TestSupport

extension Connection {
    /// The error name of a call's reply; nil on success.
    func errorName(
        of member: String,
        on interface: String,
        at path: ObjectPath,
        _ arguments: [Variant],
        to destination: String = TestDaemon.name
    ) async -> String? {
        await error(of: member, on: interface, at: path, arguments, to: destination)?.name.rawValue
    }

    func error(
        of member: String,
        on interface: String,
        at path: ObjectPath,
        _ arguments: [Variant],
        to destination: String = TestDaemon.name
    ) async -> DBusError? {
        do throws(DBusError) {
            _ = try await call(
                to: destination,
                path: path,
                interface: interface,
                member: member,
                signature: arguments.map(\.signature).joined(),
                timeout: .seconds(60)
            ) { writer throws(DBusError) in
                for argument in arguments { try argument.writeBare(to: &writer) }
            }
            return nil
        } catch {
            return error
        }
    }
}

extension Variant {
    /// Writes the value without a type code.
    func writeBare(to writer: inout MessageWriter) throws(DBusError) {
        switch self {
        case .bool(let value): try writer.write(value)
        case .uint8(let value): try writer.write(value)
        case .int16(let value): try writer.write(value)
        case .uint16(let value): try writer.write(value)
        case .int32(let value): try writer.write(value)
        case .uint32(let value): try writer.write(value)
        case .int64(let value): try writer.write(value)
        case .uint64(let value): try writer.write(value)
        case .double(let value): try writer.write(value)
        case .string(let value): try writer.write(value)
        case .objectPath(let value): try writer.write(value)
        case .signature(let value): try writer.write(value)
        case .bytes(let value): try writer.write(value)
        case .strings(let value): try writer.write(value)
        case .dictionary(let value): try writer.write(value)
        case .variant(let value): try writer.write(value)
        case .array, .structure, .entries:
            throw DBusError(.notSupported, "the tests send none of these alone")
        }
    }
}

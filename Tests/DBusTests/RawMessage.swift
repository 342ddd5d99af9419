import CSystemd

@testable import DBus

/// Bodies that the writer refuses.
enum RawBody: CaseIterable {
    case longString
    case deepVariant
    case manyNumbers
    case longBytes
    case sameKeyTwice
}

/// A call of `Containers` with one value beyond a limit, made of types without checks.
@BusActor
struct RawMessage {
    private let call: PendingCall

    init(_ pair: ServedPair, _ body: RawBody) throws(DBusError) {
        let values = ContainerValues()
        call = try pair.client.startCall(
            to: pair.server.uniqueName,
            path: ExampleService.path,
            interface: ExampleService.name,
            member: "Containers",
            signature: "ayasaua{sv}aa{sv}(is)va{us}"
        ) { (writer) throws(DBusError) in
            try writer.uncheckedBytes(body == .longBytes ? MessageLimits.bytes + 1 : 1)
            try writer.write(values.strings)
            try writer.uncheckedNumbers(body == .manyNumbers ? MessageLimits.array + 1 : 1)
            try writer.uncheckedOptions(isDouble: body == .sameKeyTwice)
            try writer.write(values.list)
            try writer.uncheckedPair(length: body == .longString ? MessageLimits.string + 1 : 1)
            try writer.uncheckedVariant(
                depth: body == .deepVariant ? MessageLimits.variantDepth + 1 : 1
            )
            try writer.write(values.names)
        }
    }

    func error() async -> DBusError.Name? {
        do throws(DBusError) {
            _ = try await call.reply()
            return nil
        } catch {
            return error.name
        }
    }
}

extension MessageWriter {
    // Errors of sd-bus do not matter, because the receiver is under test.
    fileprivate func open(_ type: Unicode.Scalar, _ contents: String) {
        sd_bus_message_open_container(message, CChar(truncatingIfNeeded: type.value), contents)
    }

    fileprivate func close() {
        sd_bus_message_close_container(message)
    }

    fileprivate func uncheckedBytes(_ count: Int) throws(DBusError) {
        let bytes = [UInt8](repeating: 0, count: count)
        sd_bus_message_append_array(message, CChar(UInt8(ascii: "y")), bytes, count)
    }

    fileprivate mutating func uncheckedNumbers(_ count: Int) throws(DBusError) {
        open("a", "u")
        for _ in 0..<count {
            try write(UInt32(0))
        }
        close()
    }

    fileprivate mutating func uncheckedOptions(isDouble: Bool) throws(DBusError) {
        open("a", "{sv}")
        for _ in 0..<(isDouble ? 2 : 1) {
            open("e", "sv")
            try write("key")
            try write(Variant.bool(true))
            close()
        }
        close()
    }

    fileprivate mutating func uncheckedPair(length: Int) throws(DBusError) {
        open("r", "is")
        try write(Int32(0))
        try longText(String(repeating: "a", count: length))
        close()
    }

    fileprivate mutating func uncheckedVariant(depth: Int) throws(DBusError) {
        for level in 0..<depth {
            open("v", level == depth - 1 ? "b" : "v")
        }
        try write(true)
        for _ in 0..<depth {
            close()
        }
    }
}

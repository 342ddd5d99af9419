import DBus

/// A value of each basic type.
struct BasicValues: Equatable, Sendable {
    var bool = true
    var uint8 = UInt8.max
    var int16 = Int16.min
    var uint16 = UInt16.max
    var int32 = Int32.min
    var uint32 = UInt32.max
    var int64 = Int64.min
    var uint64 = UInt64.max
    var double = -0.5
    var string = "Grüße, 世界 🔑"
    var path = ObjectPath(trusted: "/a/b")
    var signature = Signature("a{sv}(ii)")

    init() {}

    init(from reader: inout MessageReader) throws(DBusError) {
        bool = try reader.read(Bool.self)
        uint8 = try reader.read(UInt8.self)
        int16 = try reader.read(Int16.self)
        uint16 = try reader.read(UInt16.self)
        int32 = try reader.read(Int32.self)
        uint32 = try reader.read(UInt32.self)
        int64 = try reader.read(Int64.self)
        uint64 = try reader.read(UInt64.self)
        double = try reader.read(Double.self)
        string = try reader.read(String.self)
        path = try reader.read(ObjectPath.self)
        signature = try reader.read(Signature.self)
    }

    func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.write(bool)
        try writer.write(uint8)
        try writer.write(int16)
        try writer.write(uint16)
        try writer.write(int32)
        try writer.write(uint32)
        try writer.write(int64)
        try writer.write(uint64)
        try writer.write(double)
        try writer.write(string)
        try writer.write(path)
        guard let signature else { throw DBusError(.failed, "There is no signature.") }
        try writer.write(signature)
    }
}

/// A structure of two fields.
struct Pair: WireType, Hashable {
    static let signature = "(is)"
    var number: Int32
    var text: String

    init(number: Int32, text: String) {
        self.number = number
        self.text = text
    }

    init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.structure("is") { (reader) throws(DBusError) in
            Pair(number: try reader.read(Int32.self), text: try reader.read(String.self))
        }
    }

    func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.structure("is") { (writer) throws(DBusError) in
            try writer.write(number)
            try writer.write(text)
        }
    }
}

/// A value of each kind of container.
struct ContainerValues: Equatable, Sendable {
    var bytes: [UInt8] = [0, 1, 255]
    var strings = ["", "a", "b"]
    var numbers: [UInt32] = []
    var options: [String: Variant] = [
        "flag": .bool(true), "bytes": .bytes([9]), "strings": .strings([]),
        "nested": .dictionary(["deep": .variant(.int64(-1))]),
    ]
    var list: [[String: Variant]] = [[:], ["x": .double(1.5)]]
    var pair = Pair(number: -3, text: "three")
    var variant = Variant.structure([
        .array(element: Signature("n") ?? .none, [.int16(1), .int16(-1)]),
        .entries(
            key: Signature("y") ?? .none,
            value: Signature("s") ?? .none,
            [.init(key: .uint8(1), value: .string("one"))]
        ),
        .objectPath(ObjectPath(trusted: "/")),
    ])
    var names: [UInt32: String] = [1: "one", 2: "two"]

    init() {}

    init(from reader: inout MessageReader) throws(DBusError) {
        bytes = try reader.read([UInt8].self)
        strings = try reader.read([String].self)
        numbers = try reader.read([UInt32].self)
        options = try reader.read([String: Variant].self)
        list = try reader.read([[String: Variant]].self)
        pair = try reader.read(Pair.self)
        variant = try reader.read(Variant.self)
        names = try reader.read([UInt32: String].self)
    }

    func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.write(bytes)
        try writer.write(strings)
        try writer.write(numbers)
        try writer.write(options)
        try writer.write(list)
        try writer.write(pair)
        try writer.write(variant)
        try writer.write(names)
    }
}

extension Signature {
    static var none: Signature {
        guard let signature = Signature("") else { preconditionFailure("It is valid.") }
        return signature
    }
}

/// Encodes values in D-Bus's layout, little endian.
public struct RawValues: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Appends zeros up to a multiple of `size`.
    public mutating func pad(_ size: Int) {
        while !bytes.count.isMultiple(of: size) { bytes.append(0) }
    }

    public mutating func append(_ number: UInt32) {
        pad(4)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(number >> shift & 255)) }
    }

    public mutating func append(_ text: String) {
        append(UInt32(text.utf8.count))
        bytes += Array(text.utf8) + [0]
    }

    /// Appends an array with its elements aligned to `size`.
    public mutating func array(aligned size: Int, _ elements: (inout RawValues) -> Void) {
        append(UInt32(0))
        let length = bytes.count - 4
        pad(size)
        let start = bytes.count
        elements(&self)
        let count = bytes.count - start
        for index in 0..<4 { bytes[length + index] = UInt8(count >> (8 * index) & 255) }
    }

    /// Appends bytes without alignment.
    public mutating func append(raw more: [UInt8]) {
        bytes += more
    }

    mutating func field(_ code: UInt8, _ type: Unicode.Scalar, _ text: String) {
        pad(8)
        bytes += [code, 1, UInt8(ascii: type), 0]
        append(text)
    }

    mutating func field(_ code: UInt8, _ number: UInt32) {
        pad(8)
        bytes += [code, 1, UInt8(ascii: "u"), 0]
        append(number)
    }

    mutating func signature(_ code: UInt8, _ text: String) {
        pad(8)
        bytes += [code, 1, UInt8(ascii: "g"), 0, UInt8(text.utf8.count)] + Array(text.utf8) + [0]
    }
}

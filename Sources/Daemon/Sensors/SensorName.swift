/// Validates the last element of a sensor's bus name.
enum SensorName {
    /// Whether the contract allows the name, which becomes part of object paths and file names.
    static func isValid(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_")
        }
        return isPlain && !name.isEmpty && name.utf8.count <= 64
    }
}

import Passkeys

/// Bytes that programs send to the virtual security key.
enum PasskeyBytes {
    /// Reads bytes as packets on open channels, and as a message.
    ///
    /// Values must survive a round trip.
    static func read(_ bytes: [UInt8]) {
        var layer = PacketLayer()
        let open: [UInt8] = [255, 255, 255, 255, 0x86, 0, 8]
        for _ in 0..<2 { _ = layer.receive(padded(open)) }
        var rest = bytes[...]
        while let first = rest.popFirst() {
            // A short packet is more likely to be valid than 64 arbitrary bytes.
            let packet = [0, 0, 0, first % 4] + rest.prefix(Int(first >> 2))
            rest = rest.dropFirst(Int(first >> 2))
            if case .request(let message) = layer.receive(padded(packet)) {
                precondition(!message.isEmpty && message.count <= PacketLayer.longestMessage)
                if first % 2 == 0 { _ = layer.answer(message) }
            }
        }
        for packet in layer.timeOut() { precondition(packet.count == PacketLayer.size) }
        if let value = CBOR(bytes) { precondition(CBOR(value.encoded) == value) }
        if let secrets = PasskeySecrets(bytes) {
            precondition(PasskeySecrets(secrets.encoded) == secrets)
        }
        if let export = PasskeyExport(bytes) {
            precondition(PasskeyExport(export.encoded) == export)
        }
    }

    private static func padded(_ packet: [UInt8]) -> [UInt8] {
        packet + [UInt8](repeating: 0, count: max(0, PacketLayer.size - packet.count))
    }
}

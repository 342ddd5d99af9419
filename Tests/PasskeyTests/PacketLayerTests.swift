import Passkeys
import TestSupport
import Testing

@Suite struct PacketLayerTests {
    private var layer = PacketLayer()

    private static func packet(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: PacketLayer.size - bytes.count)
    }

    /// Opens a channel; the first has number 1.
    private mutating func open() {
        _ = layer.receive(Self.packet([255, 255, 255, 255, 0x86, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]))
    }

    /// The code of the error in an answer.
    private static func code(_ event: PacketLayer.Event?) -> UInt8? {
        guard case .answer(let packets) = event, packets.first?[4] == 0xbf else { return nil }
        return packets.first?[7]
    }

    @Test("Messages arrive whole, and programs on other channels are told to wait")
    mutating func message() {
        open()
        open()
        let body = (0..<100).map { UInt8($0) }
        #expect(layer.receive([0, 0, 0, 1, 0x90, 0, 100] + body[..<57]) == nil)
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 2, 0x90, 0, 1, 4]))) == 6)
        let end = layer.receive(Self.packet([0, 0, 0, 1, 0] + body[57...]))
        #expect(end == .request(body))
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 2, 0x90, 0, 1, 4]))) == 6)
        #expect(layer.keepalive(waitsForPerson: true)?[..<8] == [0, 0, 0, 1, 0xbb, 0, 1, 2])
        #expect(layer.answer([0]).count == 1)
        #expect(layer.keepalive(waitsForPerson: true) == nil)
    }

    @Test("Wrong sequences, lengths, commands and channels are refused")
    mutating func refusals() {
        open()
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 9, 0x90, 0, 1, 4]))) == 0x0b)
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 1, 0x90, 255, 255]))) == 3)
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 1, 0x83, 0, 1, 4]))) == 1)
        #expect(layer.receive(Self.packet([0, 0, 0, 1, 0x90, 0, 100])) == nil)
        #expect(Self.code(layer.receive(Self.packet([0, 0, 0, 1, 3]))) == 4)
        #expect(layer.receive(Self.packet([0, 0, 0, 1, 0x90, 0, 100])) == nil)
        #expect(layer.timeOut().first?[7] == 5)
        #expect(layer.receive([1, 2, 3]) == nil)
    }

    @Test("A program that opens its channel again abandons its request")
    mutating func abandoned() {
        open()
        #expect(layer.receive(Self.packet([0, 0, 0, 1, 0x90, 0, 1, 4])) == .request([4]))
        let again = layer.receive(Self.packet([0, 0, 0, 1, 0x86, 0, 8]))
        guard case .abandon = again else {
            Issue.record("\(String(describing: again))")
            return
        }
        #expect(layer.answer([0]).isEmpty)
    }

    @Test("Any bytes leave the packet layer and the CBOR reader in order")
    mutating func anyBytes() {
        open()
        var random = SeededGenerator(54)
        for _ in 0..<20_000 {
            var packet = (0..<PacketLayer.size).map { _ in random.next() as UInt8 }
            packet[0...3] = [0, 0, 0, random.next() % 3]
            if random.next() % 2 as UInt8 == 0 { packet[5] = 0 }
            _ = layer.receive(packet)
            if let value = CBOR(Array(packet.dropFirst(4).prefix(Int(packet[7]) % 20))) {
                #expect(CBOR(value.encoded) == value)
            }
        }
    }
}

/// The packet layer of CTAPHID for a security key without hardware.
public struct PacketDesk {
    static let size = 64

    private struct Message {
        let command: UInt8
        let length: Int
        var body: [UInt8]
    }

    private var key = Authenticator()
    private var messages: [[UInt8]: Message] = [:]
    private var channels: UInt32 = 1
    private var channel: [UInt8]?
    public private(set) var cancels = 0
    /// Count of requests that waited for a touch.
    public private(set) var requests = 0
    /// Count of requests without an answer.
    public private(set) var ignored = 0

    public init(_ manners: KeyBehaviour = KeyBehaviour()) { key.manners = manners }

    public var manners: KeyBehaviour {
        get { key.manners }
        set { key.manners = newValue }
    }

    public var waits: Bool { key.waits }

    /// The packet that the key repeats while it waits; nil if it does not wait.
    public var keepalive: [UInt8]? { waits ? channel.map { packet($0, 0x3b, [2]) } : nil }

    /// Touches the key and returns the packets of its answer; empty if it did not wait.
    public mutating func touch(_ touch: Touch = .right) -> [[UInt8]] {
        guard let channel, let answer = key.touch(touch) else { return [] }
        self.channel = nil
        return packets(channel, 0x10, answer)
    }

    public mutating func close() {
        _ = key.cancel()
        (channel, messages) = (nil, [:])
    }

    /// Handles a packet and returns the packets of the answer.
    public mutating func receive(_ packet: [UInt8]) -> [[UInt8]] {
        guard packet.count == Self.size else { return [] }
        let id = Array(packet[..<4])
        if packet[4] & 0x80 != 0 {
            let length = Int(packet[5]) << 8 | Int(packet[6])
            let body = Array(packet[7...].prefix(length))
            messages[id] = Message(command: packet[4] & 0x7f, length: length, body: body)
        } else {
            let missing = (messages[id]?.length ?? 0) - (messages[id]?.body.count ?? 0)
            messages[id]?.body += packet[5...].prefix(missing)
        }
        guard let message = messages[id], message.body.count >= message.length else { return [] }
        messages[id] = nil
        return answer(message, id)
    }

    private mutating func answer(_ message: Message, _ id: [UInt8]) -> [[UInt8]] {
        switch message.command {
        case 0x06:
            channels += 1
            let new = (0..<4).reversed().map { UInt8(truncatingIfNeeded: channels >> (8 * $0)) }
            return packets(id, 0x06, message.body + new + [2, 1, 0, 0, 0x0c])
        case 0x10: return asked(message.body, id)
        case 0x11:
            guard id == channel, let answer = key.cancel() else { return [] }
            cancels += 1
            channel = nil
            return packets(id, 0x10, answer)
        default: return packets(id, 0x3f, [0x01])
        }
    }

    private mutating func asked(_ message: [UInt8], _ id: [UInt8]) -> [[UInt8]] {
        let isQuestion = message.first == 0x04
        if (channel != nil && channel != id) || (manners.isBusy && !isQuestion) {
            return packets(id, 0x3f, [0x06])
        }
        if manners.isMute, !isQuestion {
            ignored += 1
            return []
        }
        if let answer = key.answer(message) { return packets(id, 0x10, answer) }
        channel = id
        requests += 1
        return keepalive.map { [$0] } ?? []
    }

    private func packet(_ id: [UInt8], _ command: UInt8, _ body: [UInt8]) -> [UInt8] {
        packets(id, command, body)[0]
    }

    private func packets(_ id: [UInt8], _ command: UInt8, _ body: [UInt8]) -> [[UInt8]] {
        let head = id + [0x80 | command, UInt8(body.count >> 8), UInt8(body.count & 0xff)]
        var packets = [head + body.prefix(Self.size - 7)]
        var rest = body.dropFirst(Self.size - 7)
        var number: UInt8 = 0
        while !rest.isEmpty {
            packets.append(id + [number] + rest.prefix(Self.size - 5))
            rest = rest.dropFirst(Self.size - 5)
            number += 1
        }
        return packets.map { $0 + [UInt8](repeating: 0, count: Self.size - $0.count) }
    }
}

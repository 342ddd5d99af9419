/// The packet layer of a security key (CTAPHID): channels, and messages in packets of 64 bytes.
///
/// Serves a single message at a time, over all channels. Other channels are told that the key is
/// busy.
package struct PacketLayer {
    package typealias Packet = [UInt8]

    package enum Event: Hashable {
        case answer([Packet])
        /// A whole message, which ``answer(_:)`` ends.
        case request([UInt8])
        /// The program canceled the current request.
        case cancel
        /// The program gave up the current request, and takes no answer to it.
        case abandon([Packet])
    }

    /// Bytes of a packet.
    package static let size = 64
    /// The bytes that fit into the first packet and 128 more.
    package static let longestMessage = size - 7 + 128 * (size - 5)
    /// The bytes of a message that is surely complete.
    ///
    /// The kernel (uhid) drops packets while 31 of them wait for the broker.
    static let longestBurst = size - 7 + 30 * (size - 5)
    private static let broadcast: UInt32 = 0xffff_ffff
    /// CTAPHID 2, device version 1.0.0; CBOR, but no U2F messages and no lamp.
    private static let description: [UInt8] = [2, 1, 0, 0, 0x04 | 0x08]

    private enum Command: UInt8 {
        case ping = 0x01
        case initialize = 0x06
        case cbor = 0x10
        case cancel = 0x11
        case keepalive = 0x3b
        case error = 0x3f
    }

    private enum Fault: UInt8 {
        case command = 0x01
        case length = 0x03
        case sequence = 0x04
        case timeout = 0x05
        case busy = 0x06
        case channel = 0x0b
    }

    private enum Transaction {
        case receiving(channel: UInt32, command: UInt8, length: Int, body: [UInt8], next: UInt8)
        case serving(channel: UInt32)

        var channel: UInt32 {
            switch self {
            case .receiving(let channel, _, _, _, _), .serving(let channel): channel
            }
        }
    }

    private var lastChannel: UInt32 = 0
    private var transaction: Transaction?

    package init() {}

    /// The channel of the current message.
    package var channel: UInt32? { transaction?.channel }

    /// Whether a message has begun and waits for more packets.
    package var isReceiving: Bool {
        if case .receiving = transaction { true } else { false }
    }

    /// Handles a packet; nil if it needs no answer.
    package mutating func receive(_ packet: Packet) -> Event? {
        guard packet.count == Self.size else { return nil }
        let channel = packet[..<4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        guard packet[4] & 0x80 != 0 else { return proceed(channel, packet) }
        let (command, length) = (packet[4] & 0x7f, Int(packet[5]) << 8 | Int(packet[6]))
        if command == Command.initialize.rawValue { return initialize(channel, packet, length) }
        guard channel != 0, channel <= lastChannel else { return refuse(channel, .channel) }
        if command == Command.cancel.rawValue {
            guard case .serving(channel) = transaction else { return nil }
            return .cancel
        }
        if let transaction {
            // A message that begins inside another message of its channel ends the earlier message.
            guard transaction.channel == channel, isReceiving else { return refuse(channel, .busy) }
            self.transaction = nil
            return refuse(channel, .sequence)
        }
        guard length <= Self.longestMessage else { return refuse(channel, .length) }
        let body = Array(packet[7...].prefix(length))
        return take(channel, command, length, body, next: 0)
    }

    /// Ends a message after its packets took too long to come.
    package mutating func timeOut() -> [Packet] {
        guard case .receiving(let channel, _, _, _, _) = transaction else { return [] }
        transaction = nil
        return Self.packets(channel, .error, [Fault.timeout.rawValue])
    }

    /// Returns the packets of the answer to the current request; none if it was abandoned.
    package mutating func answer(_ message: [UInt8]) -> [Packet] {
        guard case .serving(let channel) = transaction else { return [] }
        transaction = nil
        return Self.packets(channel, .cbor, message)
    }

    /// The packet that tells the program to wait; nil without a request.
    package func keepalive(waitsForPerson: Bool) -> Packet? {
        guard case .serving(let channel) = transaction else { return nil }
        return Self.packets(channel, .keepalive, [waitsForPerson ? 2 : 1]).first
    }

    private mutating func initialize(_ channel: UInt32, _ packet: Packet, _ length: Int) -> Event? {
        guard length == 8 else { return refuse(channel, .length) }
        let nonce = Array(packet[7..<15])
        if channel == Self.broadcast {
            // After four billion channels the numbers begin anew.
            lastChannel = lastChannel >= Self.broadcast - 1 ? 1 : lastChannel + 1
            let answer = nonce + bigEndian(lastChannel) + Self.description
            return .answer(Self.packets(channel, .initialize, answer))
        }
        guard channel != 0, channel <= lastChannel else { return refuse(channel, .channel) }
        let packets = Self.packets(
            channel,
            .initialize,
            nonce + bigEndian(channel) + Self.description
        )
        guard transaction?.channel == channel else { return .answer(packets) }
        let wasServing = !isReceiving
        transaction = nil
        return wasServing ? .abandon(packets) : .answer(packets)
    }

    private mutating func proceed(_ channel: UInt32, _ packet: Packet) -> Event? {
        guard case .receiving(channel, let command, let length, let body, let next) = transaction
        else { return nil }
        guard packet[4] == next else {
            transaction = nil
            return refuse(channel, .sequence)
        }
        let more = packet[5...].prefix(length - body.count)
        return take(channel, command, length, body + more, next: next + 1)
    }

    private mutating func take(
        _ channel: UInt32,
        _ command: UInt8,
        _ length: Int,
        _ body: [UInt8],
        next: UInt8
    ) -> Event? {
        guard body.count == length else {
            transaction = .receiving(
                channel: channel,
                command: command,
                length: length,
                body: body,
                next: next
            )
            return nil
        }
        transaction = nil
        switch Command(rawValue: command) {
        case .ping: return .answer(Self.packets(channel, .ping, body))
        case .cbor where !body.isEmpty:
            transaction = .serving(channel: channel)
            return .request(body)
        case .cbor: return refuse(channel, .length)
        default: return refuse(channel, .command)
        }
    }

    private func refuse(_ channel: UInt32, _ fault: Fault) -> Event {
        .answer(Self.packets(channel, .error, [fault.rawValue]))
    }

    private static func packets(_ channel: UInt32, _ command: Command, _ body: [UInt8]) -> [Packet]
    {
        let head =
            bigEndian(channel) + [0x80 | command.rawValue] + bigEndian(UInt16(clamping: body.count))
        var packets = [head + body.prefix(size - head.count)]
        var rest = body.dropFirst(size - head.count)
        while !rest.isEmpty {
            packets.append(
                bigEndian(channel) + [UInt8(truncatingIfNeeded: packets.count - 1)]
                    + rest.prefix(size - 5)
            )
            rest = rest.dropFirst(size - 5)
        }
        return packets.map { $0 + [UInt8](repeating: 0, count: size - $0.count) }
    }
}

import Glibc
import VirtualKey

/// A security key as a kernel device, through uhid.
struct KernelKey {
    private let device: Int32
    private var desk = PacketDesk()

    init(device: Int32) { self.device = device }

    /// Event types of `linux/uhid.h`.
    private enum Kind: UInt32 {
        case output = 6
        case create = 11
        case input = 12
    }

    private static let longestData = 4096
    private static let usb: UInt16 = 3

    /// The report descriptor of FIDO security keys: usage page 0xf1d0, 64 bytes in and out.
    private static let description: [UInt8] = [
        0x06, 0xd0, 0xf1, 0x09, 0x01, 0xa1, 0x01,
        0x09, 0x20, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x95, 0x40, 0x81, 0x02,
        0x09, 0x21, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x95, 0x40, 0x91, 0x02,
        0xc0,
    ]

    func plug() -> Bool {
        var event = Self.number(Kind.create.rawValue)
        event += Self.text("Virtual security key", 128) + Self.text("virtual", 64)
        event += Self.text("", 64)
        event += Self.number(UInt16(Self.description.count)) + Self.number(Self.usb)
        // Vendor, product, version, country.
        for value in [0x1d50, 0x60fc, 1, 0] as [UInt32] { event += Self.number(value) }
        event += Self.description
        event += [UInt8](repeating: 0, count: Self.longestData - Self.description.count)
        return write(device, event, event.count) == event.count
    }

    /// Handles an event of the kernel; returns false at the end of events.
    mutating func receive() -> Bool {
        var event = [UInt8](repeating: 0, count: 4 + Self.longestData + 512)
        let count = read(device, &event, event.count)
        guard count > 0 else { return false }
        let kind = event[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard kind == Kind.output.rawValue else { return true }
        let place = 4 + Self.longestData
        let size = Int(event[place]) | Int(event[place + 1]) << 8
        // Skip the report number, which the kernel may pass on as the first byte.
        let packet = Array(event[4...].prefix(size).suffix(64))
        let (requests, cancels) = (desk.requests, desk.cancels)
        send(desk.receive(packet))
        if desk.requests > requests { say("waits") }
        if desk.cancels > cancels { say("canceled") }
        return true
    }

    /// Sends a keepalive if the key waits.
    func remind() { send(desk.keepalive.map { [$0] } ?? []) }

    /// Touches the key; returns false if it did not wait for a touch.
    mutating func touch(_ touch: Touch) -> Bool {
        let packets = desk.touch(touch)
        send(packets)
        return !packets.isEmpty
    }

    private func send(_ packets: [[UInt8]]) {
        for packet in packets {
            let event =
                Self.number(Kind.input.rawValue) + Self.number(UInt16(packet.count)) + packet
            _ = write(device, event, event.count)
        }
    }

    private static func number<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func text(_ text: String, _ size: Int) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
    }
}

import CUHID
import Glibc
import Linux

/// A security key of the kernel (uhid) for a user, closed to all other users.
///
/// Speaks uhid for the user's service, which sends and receives packets alone: a process with the
/// uhid descriptor could make any device, for example a keyboard.
struct UserDevice {
    /// Readable when the kernel has an event.
    let descriptor: OwnedDescriptor
    private let uid: uid_t
    private let mark: String

    static let packetSize = 64
    /// Begins HID_PHYS, by which udev rules and the sensor of security keys know the device.
    private static let place = "localauth-passkey/"
    private static let name = "LocalAuthentication passkeys"
    private static let longestData = Int(UHID_DATA_MAX)
    private static let usb: UInt16 = 3
    /// The report descriptor of FIDO security keys: usage page 0xf1d0, 64 bytes in and out.
    private static let description: [UInt8] = [
        0x06, 0xd0, 0xf1, 0x09, 0x01, 0xa1, 0x01, 0x09, 0x20, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75,
        0x08, 0x95, 0x40, 0x81, 0x02, 0x09, 0x21, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x95,
        0x40, 0x91, 0x02, 0xc0,
    ]

    enum Event {
        case packet([UInt8])
        /// No program has the device open any more.
        case closed
        case other
    }

    /// Makes the device; nil with the reason in `errno`.
    init?(of uid: uid_t) {
        guard let device = OwnedDescriptor.open("/dev/uhid", O_RDWR | O_NONBLOCK) else {
            return nil
        }
        var random = SystemRandomNumberGenerator()
        (descriptor, self.uid, mark) = (device, uid, String(random.next() as UInt64, radix: 16))
        var event = Self.bytes(UHID_CREATE2.rawValue)
        event += Self.text(Self.name, 128) + Self.text("\(Self.place)\(uid)", 64)
        event += Self.text(mark, 64) + Self.bytes(UInt16(Self.description.count))
        // No vendor, no product; version 1, no country.
        event += Self.bytes(Self.usb) + [0, 0, 1, 0].flatMap { Self.bytes($0 as UInt32) }
        event += Self.description
        event += [UInt8](repeating: 0, count: Self.longestData - Self.description.count)
        guard descriptor.write(event) else { return nil }
    }

    /// Reads an event of the kernel; nil at its end.
    func read() -> Event? {
        var event = [UInt8](repeating: 0, count: 4 + Self.longestData + 512)
        let count = Glibc.read(descriptor.rawValue, &event, event.count)
        guard count > 4 else { return count < 0 && errno == EAGAIN ? .other : nil }
        switch uhid_event_type(Self.number(event[..<4])) {
        case UHID_OUTPUT:
            let size = Int(Self.number(event[(4 + Self.longestData)...].prefix(2)))
            // A report number may stand before the packet.
            let packet = Array(event[4...].prefix(size).suffix(Self.packetSize))
            return packet.count == Self.packetSize ? .packet(packet) : .other
        case UHID_CLOSE: return .closed
        case UHID_GET_REPORT: return refuse(event, UHID_GET_REPORT_REPLY, [0, 0])
        case UHID_SET_REPORT: return refuse(event, UHID_SET_REPORT_REPLY, [])
        default: return .other
        }
    }

    /// Gives a packet to the programs that read the device.
    func send(_ packet: [UInt8]) {
        _ = descriptor.write(
            Self.bytes(UHID_INPUT2.rawValue) + Self.bytes(UInt16(packet.count)) + packet
        )
    }

    /// Lets the user open the device; false while the kernel or udev prepares it.
    ///
    /// After udev, which would replace the access: its record of the device is its last step.
    func openToUser() -> Bool {
        guard let node = node(),
            SmallFile.read("/run/udev/data/c\(node.number)", limit: 65_536) != nil
        else { return false }
        // `linux/posix_acl_xattr.h`: tag, rights (4 reads, 2 writes), id. Owner and user, no others.
        let anyone = UInt32.max
        let entries: [(UInt16, UInt16, UInt32)] = [
            (0x01, 6, anyone), (0x02, 6, uid), (0x04, 0, anyone), (0x10, 6, anyone),
            (0x20, 0, anyone),
        ]
        let list =
            Self.bytes(2 as UInt32)
            + entries.flatMap { Self.bytes($0.0) + Self.bytes($0.1) + Self.bytes($0.2) }
        return setxattr(node.path, "system.posix_acl_access", list, list.count, 0) == 0
    }

    /// The node of the device: its path, and its number as `MAJOR:MINOR`.
    private func node() -> (path: String, number: String)? {
        let folder = "/sys/class/hidraw"
        for name in SmallFile.names(in: folder) {
            guard let words = SmallFile.read("\(folder)/\(name)/device/uevent", limit: 4096),
                String(decoding: words, as: UTF8.self).split(separator: "\n")
                    .contains("HID_UNIQ=\(mark)"),
                let number = SmallFile.read("\(folder)/\(name)/dev", limit: 32)
            else { continue }
            return ("/dev/\(name)", String(decoding: number.dropLast(), as: UTF8.self))
        }
        return nil
    }

    /// Security keys have no feature reports.
    private func refuse(_ event: [UInt8], _ kind: uhid_event_type, _ size: [UInt8]) -> Event {
        let error = Self.bytes(UInt16(EIO))
        _ = descriptor.write(Self.bytes(kind.rawValue) + event[4..<8] + error + size)
        return .other
    }

    private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func text(_ text: String, _ size: Int) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
    }
}

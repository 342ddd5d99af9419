import AuthEngine
import CLinux
import DBus
import Glibc
import KeychainStore
import Linux
import LocalAuthBus

/// What crosses the bus, as the keychain has it and back.
enum KeychainValues {
    /// Attributes of a new item, a change or a query.
    ///
    /// - Throws: Parameter for a type that no attribute has.
    static func attributes(
        _ values: [String: Variant]
    ) throws(DBusError) -> [String: AttributeValue] {
        var attributes: [String: AttributeValue] = [:]
        for (name, value) in values {
            switch value {
            case .string(let text): attributes[name] = .text(text)
            case .uint32(let number): attributes[name] = .number(number)
            case .bool(let flag): attributes[name] = .flag(flag)
            case .int64(let seconds): attributes[name] = .seconds(seconds)
            default:
                guard let bytes = value.asBytes else {
                    throw DBusError(
                        .keychainParameter,
                        "the attribute \(name.prefix(16)) has a wrong type"
                    )
                }
                attributes[name] = .bytes(bytes)
            }
        }
        return attributes
    }

    /// An item as Search answers it.
    static func wire(_ item: Item) -> [String: Variant] {
        var wire: [String: Variant] = item.allAttributes.mapValues { value -> Variant in
            switch value {
            case .text(let text): .string(text)
            case .bytes(let bytes): .bytes(bytes)
            case .number(let number): .uint32(number)
            case .flag(let flag): .bool(flag)
            case .seconds(let seconds): .int64(seconds)
            }
        }
        if !item.publicKey.isEmpty { wire["public-key"] = .bytes(item.publicKey) }
        wire["flags"] = .uint64(UInt64(item.accessControl.flags.rawValue))
        return wire
    }

    /// An access control; of an item without one the attribute `pdmn` may say when it is readable.
    ///
    /// - Throws: Parameter for parts that don't go together (R60 to R62, R65, R70).
    static func accessControl(
        _ values: [String: Variant],
        attribute: Variant? = nil
    ) throws(DBusError) -> AccessControl {
        let reader = OptionReader(values)
        let flags = try reader.value("flags", \.asUInt64)
        let accessible = try reader.value("accessible", \.asString)
        let word = try OptionReader(["pdmn": attribute].compactMapValues(\.self))
            .value("pdmn", \.asString)
        do throws(AccessControl.Refusal) {
            return try AccessControl(flags: flags, accessible: accessible, attribute: word)
        } catch {
            throw DBusError(.keychainParameter, error.description)
        }
    }

    /// How two keys agree.
    ///
    /// - Throws: Parameter for an unknown algorithm.
    static func exchange(
        _ name: String,
        _ options: [String: Variant]
    ) throws(DBusError) -> ExchangeAlgorithm {
        let reader = OptionReader(options)
        switch name {
        case "ecdh": return .plain
        case "ecdh-x963-sha256":
            let info = try reader.value("shared-info", \.asBytes) ?? []
            let size = try reader.value("size", \.asUInt32) ?? 32
            return .x963(sharedInfo: info, size: Int(size))
        default: throw .parameter("there is no exchange algorithm \(name.prefix(40))")
        }
    }

    /// The time of day, in Unix seconds.
    static var date: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }
}

extension DBusError {
    /// The keychain's answer to arguments that make no sense.
    static func parameter(_ message: String) -> DBusError {
        DBusError(.keychainParameter, message)
    }

    /// A refusal of the keychain under its name on the wire.
    init(_ error: KeychainError) {
        let name: Name =
            switch error.code {
            case .duplicate: .keychainDuplicate
            case .notFound: .keychainNotFound
            case .authFailed: .keychainAuthFailed
            case .parameter: .keychainParameter
            case .decode: .keychainDecode
            case .limitsExceeded: .limitsExceeded
            default: .keychainNotAvailable
            }
        self.init(name, error.message)
    }

    /// How an authentication for an item ended, under the name that R68 gives it.
    init(keychain refusal: Refusal) {
        let name: Name =
            switch refusal.code {
            case .userCancel, .systemCancel, .appCancel: .keychainUserCanceled
            case .notInteractive: .keychainInteractionNotAllowed
            case .limitsExceeded: .limitsExceeded
            default: .keychainAuthFailed
            }
        self.init(name, refusal.message)
    }
}

/// The caller's end of a socket pair, into which a secret goes as one packet.
struct SecretReceiver {
    private let descriptor: OwnedDescriptor

    /// - Throws: InvalidArgs for what is no end of a `SOCK_SEQPACKET` pair, or one that is closed.
    init(_ descriptor: OwnedDescriptor) throws(DBusError) {
        guard Self.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_SEQPACKET.rawValue),
            Self.option(SO_ACCEPTCONN, of: descriptor) == 0
        else { throw .invalid("the receiver is no end of a SOCK_SEQPACKET pair") }
        self.descriptor = descriptor
        var state = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        guard poll(&state, 1, 0) >= 0, state.revents & Int16(POLLHUP | POLLERR) == 0 else {
            throw .invalid("the other end of the receiver is closed")
        }
    }

    /// Sends a secret; of an empty one nothing is sent.
    ///
    /// - Throws: InvalidArgs when nobody could receive it; nothing is sent later.
    func send(_ secret: SecretBytes) throws(DBusError) {
        guard secret.count > 0 else { return }
        let sent = secret.use { bytes in
            Glibc.send(
                descriptor.rawValue,
                bytes,
                bytes.count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            )
        }
        guard sent == secret.count else { throw .invalid("the receiver is closed or full") }
    }

    private static func option(_ option: Int32, of descriptor: OwnedDescriptor) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = getsockopt(descriptor.rawValue, SOL_SOCKET, option, &value, &size)
        return result == 0 ? value : nil
    }
}

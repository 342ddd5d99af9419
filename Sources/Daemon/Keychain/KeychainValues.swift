import AuthEngine
import DBus
import Glibc
import KeychainStore
import LocalAuthBus

/// Converts values between the bus and the keychain.
enum KeychainValues {
    /// Converts the attributes of a new item, a change or a query.
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

    /// Converts an access control.
    ///
    /// For an item without access control, the attribute `pdmn` may tell when it is accessible.
    ///
    /// - Throws: Parameter for contradictory parts (R60 to R62, R65, R70).
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

    /// Converts the name of a key exchange algorithm.
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

    static var date: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }
}

extension DBusError {
    static func parameter(_ message: String) -> DBusError {
        DBusError(.keychainParameter, message)
    }

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

    /// Maps the refusal of an authentication for an item to the name that R68 defines.
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

internal import DBus
internal import Foundation
internal import Glibc

/// A search result as plain values; the caller's thread converts it to Foundation objects.
indirect enum ItemResult: Sendable {
    case nothing
    case data([UInt8])
    case attributes(
        [String: Variant],
        ItemDictionary.Returns,
        secret: [UInt8]?,
        key: SecKey?
    )
    case key(SecKey)
    case reference(String)
    case list([ItemResult])

    var object: CFTypeRef? {
        switch self {
        case .nothing: nil
        case .data(let bytes): SecretData(bytes)
        case .attributes(let attributes, let returns, let secret, let key):
            Self.dictionary(attributes, returns, secret, key)
        case .key(let key): key
        case .reference(let id): Data(id.utf8) as NSData
        case .list(let items): items.compactMap(\.object) as NSArray
        }
    }

    private static func dictionary(
        _ item: [String: Variant],
        _ returns: ItemDictionary.Returns,
        _ secret: [UInt8]?,
        _ key: SecKey?
    ) -> NSDictionary {
        var result: [String: Any] = [:]
        if returns.contains(.attributes) {
            let form = ValueRepresentation(item["form"]?.asString ?? "")
            for name in ItemAttribute.names[item["class"]?.asString ?? ""] ?? []
            where name != "ptcl" {
                result[name] = name == "port" ? NSNumber(value: 0) : "" as NSString
            }
            for (name, value) in item { result[name] = self.value(name, value, form) }
            result["sync"] = NSNumber(value: item["sync"] == .bool(true))
            let accessible = ItemDictionary.accessible(item, form)
            result["pdmn"] = accessible as NSString
            let bits = CFOptionFlags(item["flags"]?.asUInt64 ?? 0)
            result["accc"] = SecAccessControl(
                flags: SecAccessControlCreateFlags(rawValue: bits),
                accessible: accessible
            )
        }
        if returns.contains(.persistentReference), let id = item["id"]?.asString {
            result["v_PersistentRef"] = Data(id.utf8) as NSData
        }
        if let secret { result["v_Data"] = SecretData(secret) }
        if let key { result["v_Ref"] = key }
        return result as NSDictionary
    }

    private static func value(_ name: String, _ value: Variant, _ form: ValueRepresentation) -> Any?
    {
        switch value {
        // Attributes of the service that have no counterpart in Apple's keychain.
        case _ where ["id", "form", "flags", "public-key"].contains(name): nil
        case .string(let text): form.value(name, text)
        case .uint32(let number): form.value(name, number)
        case .bool(let flag): NSNumber(value: flag)
        case .int64(let seconds): form.instant(name, seconds) as NSDate
        default: value.asBytes.map { form.value(name, $0) }
        }
    }
}

/// A secret in a result, wiped when the app releases it.
///
/// Foundation converts `NSData` to `Data` byte by byte, which takes six times as long with its own
/// storage.
private final class SecretData: NSData {
    // SAFETY: this object owns the memory, and lends it no longer than it lives.
    private let storage: UnsafeMutableRawBufferPointer

    init(_ secret: [UInt8]) {
        // Room for a byte more, so that an empty secret has an address.
        storage = .allocate(byteCount: secret.count + 1, alignment: 1)
        storage.copyBytes(from: secret)
        super.init()
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    deinit {
        if let start = storage.baseAddress { explicit_bzero(start, storage.count) }
        storage.deallocate()
    }

    override var length: Int { storage.count - 1 }

    override var bytes: UnsafeRawPointer {
        // The memory was just allocated, so it has an address.
        storage.baseAddress.map { UnsafeRawPointer($0) } ?? super.bytes
    }
}

internal import DBus
internal import Foundation

/// What a search found, as values; Foundation's objects are made of it on the caller's thread.
indirect enum ItemResult: Sendable {
    case nothing
    case data([UInt8])
    case attributes([String: Variant], secret: [UInt8]?, key: SecKey?)
    case key(SecKey)
    case reference(String)
    case list([ItemResult])

    var object: CFTypeRef? {
        switch self {
        case .nothing: nil
        case .data(let bytes): Data(bytes) as NSData
        case .attributes(let attributes, let secret, let key):
            Self.dictionary(attributes, secret, key)
        case .key(let key): key
        case .reference(let id): Data(id.utf8) as NSData
        case .list(let items): items.compactMap(\.object) as NSArray
        }
    }

    private static func dictionary(
        _ attributes: [String: Variant],
        _ secret: [UInt8]?,
        _ key: SecKey?
    ) -> NSDictionary {
        var result: [String: Any] = [:]
        for (name, value) in attributes {
            switch value {
            case .string(let text) where name == "id":
                result["v_PersistentRef"] = Data(text.utf8) as NSData
            case .string(let text): result[name] = text as NSString
            case .bytes(let bytes): result[name] = Data(bytes) as NSData
            case .uint32(let number): result[name] = NSNumber(value: number)
            case .bool(let flag): result[name] = NSNumber(value: flag)
            case .int64(let seconds):
                result[name] = NSDate(timeIntervalSince1970: TimeInterval(seconds))
            default: continue
            }
        }
        if let secret { result["v_Data"] = Data(secret) as NSData }
        if let key { result["v_Ref"] = key }
        return result as NSDictionary
    }
}

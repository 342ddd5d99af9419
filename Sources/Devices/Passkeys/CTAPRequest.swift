/// Parameters that requests have in common.
enum CTAPRequest {
    struct Options {
        var discoverable = false
        var present = true
        var verified = false
    }

    static func hash(_ value: CBOR?) throws(CTAPStatus) -> [UInt8] {
        guard let value else { throw .missingParameter }
        guard let hash = value.asBytes else { throw .unexpectedType }
        guard hash.count == 32 else { throw .invalidParameter }
        return hash
    }

    /// A text of 1 to 255 bytes.
    static func site(_ value: CBOR?) throws(CTAPStatus) -> String {
        guard let value else { throw .missingParameter }
        guard let site = value.asText else { throw .unexpectedType }
        guard 1...255 ~= site.utf8.count else { throw .invalidParameter }
        return site
    }

    static func options(_ value: CBOR?) throws(CTAPStatus) -> Options {
        var options = Options()
        guard let value else { return options }
        guard value.asMap != nil else { throw .unexpectedType }
        func flag(_ name: String, _ usual: Bool) throws(CTAPStatus) -> Bool {
            guard let value = value[name] else { return usual }
            guard let flag = value.asFlag else { throw .unexpectedType }
            return flag
        }
        options.discoverable = try flag("rk", false)
        options.present = try flag("up", true)
        options.verified = try flag("uv", false)
        return options
    }

    /// The ids in a list of credential descriptors; nil without a list.
    static func list(_ value: CBOR?) throws(CTAPStatus) -> Set<[UInt8]>? {
        guard let value else { return nil }
        guard let list = value.asArray else { throw .unexpectedType }
        guard list.count <= Authenticator.longestList else { throw .invalidParameter }
        var ids: Set<[UInt8]> = []
        for descriptor in list {
            guard let id = descriptor["id"], let type = descriptor["type"] else {
                throw .missingParameter
            }
            guard let id = id.asBytes, let type = type.asText else { throw .unexpectedType }
            if type == "public-key" { ids.insert(id) }
        }
        return ids.isEmpty && list.isEmpty ? nil : ids
    }

    static func extensions(_ value: CBOR?) throws(CTAPStatus) -> CBOR {
        guard let value else { return .map([:]) }
        guard value.asMap != nil else { throw .unexpectedType }
        return value
    }
}

import AuthEngine

/// The attributes that a search compares.
///
/// Every given attribute has to be equal.
package struct Query: Hashable, Sendable {
    let values: [String: AttributeValue]

    /// Every attribute that queries may have, with a value of its type.
    private static let types = Attributes.types.merging([
        "class": .text(""), "id": .text(""), "pdmn": .text(""), "cdat": .seconds(0),
        "mdat": .seconds(0),
    ]) { $1 }

    /// Creates a query.
    ///
    /// An empty query matches all items.
    ///
    /// - Throws: `parameter` for an unknown attribute or a wrong type. Ignoring it would find the
    ///   wrong items.
    package init(_ values: [String: AttributeValue]) throws(KeychainError) {
        for (name, value) in values {
            guard let type = Self.types[name] else {
                throw .parameter("there is no attribute \(name.prefix(16))")
            }
            guard value.isOfSameType(as: type) else {
                throw .parameter("the attribute \(name) has a wrong type")
            }
        }
        if case .text(let word) = values["class"], ItemClass(rawValue: word) == nil {
            throw .parameter("there is no class \(word.prefix(16))")
        }
        self.values = values
    }

    var id: String? {
        guard case .text(let id) = values["id"] else { return nil }
        return id
    }

    func matches(_ item: Item) -> Bool {
        let attributes = item.allAttributes
        return values.allSatisfy { name, value in
            guard name == "pdmn", case .text(let word) = value else {
                // A missing `sync` attribute means false.
                let own = attributes[name] ?? (name == "sync" ? .flag(false) : nil)
                return own?.isSame(as: value) ?? false
            }
            return AccessControl.Accessibility(word: word) == item.accessControl.accessibility
        }
    }
}

import Crypto
import Sealing
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// L18: The files show neither attributes nor which items have equal attributes.
@Suite("At rest")
struct AtRestTests {
    /// Every attribute of a text or of bytes, with a value that names it.
    private static let values: [String: AttributeValue] = Attributes.types
        .compactMapValues { type -> AttributeValue? in
            switch type {
            case .text: .text("")
            case .bytes: .bytes([])
            default: nil
            }
        }

    /// Counts a pattern in every file of a keychain.
    private func count(_ pattern: [UInt8], in folder: StateFolder) throws -> Int {
        try folder.files.filter { $0.hasPrefix("items.sqlite") }
            .reduce(0) { try $0 + folder.read($1).ranges(of: pattern).count }
    }

    @Test("L18: No attribute of an item is in the files, nor a digest of its primary key")
    func attributes() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        var digests: [[UInt8]] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            var attributes = try Attributes(["class": .text(itemClass.rawValue)])
            for (name, type) in Self.values {
                let marker = "marker of \(name)"
                let value: AttributeValue =
                    type == .text("") ? .text(marker) : .bytes(Array(marker.utf8))
                // The other class has some of them.
                try? attributes.update([name: value])
            }
            #expect(attributes.values.count > 8)
            digests.append(attributes.primaryKey(app: ""))
            let id = try store.add(
                attributes,
                secret: SecretBytes("secret"),
                accessControl: .guarded(by: .biometryAny),
                password: nil,
                caller: .person,
                date: 100
            )
            try store.update(id, ["labl": .text("marker of a change")], caller: .person, date: 200)
        }
        #expect(try store.find(["acct": .text("marker of acct")]).count == 2)
        // The keychain is open, so the log counts too.
        for pattern in digests + [Array("marker of ".utf8), Array("svce".utf8)] {
            #expect(try count(pattern, in: folder) == 0)
        }
        withExtendedLifetime(store) {}
    }

    @Test("L18: The ledger does not show in which items an attribute is equal")
    func ledger() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        for account in 0..<3 {
            _ = try store.add(
                Attributes.service("mail", account: "\(account)"),
                secret: SecretBytes("secret"),
                accessControl: .guarded(by: []),
                password: nil,
                caller: .person,
                date: 1
            )
        }
        let tokens = store.ring.index(of: 1000).tokens(of: ["svce": .text("mail")])
        #expect(try store.entries(with: #require(tokens.first), of: 1000).count == 3)
        for token in tokens {
            let bytes = withUnsafeBytes(of: token.bigEndian) { Array($0) }
            #expect(try count(bytes, in: folder) == 0)
        }
    }

    @Test(
        "L18: After the upgrade no attribute is in the files",
        arguments: FormerFormat.allCases
    )
    func upgraded(from format: FormerFormat) throws {
        let folder = try StateFolder("keychain")
        try format.put(into: folder)
        let patterns = ["account ", "service ", "label ", "svce"].map { Array($0.utf8) }
        for pattern in patterns { #expect(try count(pattern, in: folder) > 0) }
        let store = try folder.open()
        for pattern in patterns { #expect(try count(pattern, in: folder) == 0) }
        withExtendedLifetime(store) {}
    }
}

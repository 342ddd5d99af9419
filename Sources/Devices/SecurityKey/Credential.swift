/// A credential that a security key made for this machine.
///
/// A credential is not secret: the private key never leaves the security key.
package struct Credential: Hashable, Sendable {
    /// The credential id of the security key.
    package let handle: [UInt8]
    /// X and Y of its public key on P-256.
    package let publicKey: [UInt8]
    /// True if the security key has to verify its user, for example by a finger.
    ///
    /// A touch is then insufficient.
    package let verifiesUser: Bool
    /// The security key's signature counter at its last use; 0 if it does not count.
    package var counter: UInt32

    static let longestHandle = 1024
    static let publicKeySize = 64

    /// Returns nil if a length is invalid for a security key.
    package init?(handle: [UInt8], publicKey: [UInt8], verifiesUser: Bool, counter: UInt32) {
        guard 1...Self.longestHandle ~= handle.count, publicKey.count == Self.publicKeySize
        else { return nil }
        self.handle = handle
        self.publicKey = publicKey
        self.verifiesUser = verifiesUser
        self.counter = counter
    }

    /// Returns whether a signature with this counter is new.
    ///
    /// A cloned security key or a replayed answer repeats an old counter.
    func isNew(_ number: UInt32) -> Bool { number > counter || (number == 0 && counter == 0) }
}

/// The file format of a credential: magic number, time, counter and flag.
///
/// Handle, public key and label follow, each with a length prefix.
struct CredentialRecord: Hashable {
    var label: String
    let created: Int64
    var credential: Credential

    private static let magic = Array("LAFIDO01".utf8)

    init(label: String, created: Int64, credential: Credential) {
        self.label = label
        self.created = created
        self.credential = credential
    }

    /// Returns nil if the content is malformed or truncated.
    init?(_ content: [UInt8]) {
        var rest = content[...]
        guard Self.take(Self.magic.count, &rest) == Self.magic,
            let created = Self.integer(8, &rest), let counter = Self.integer(4, &rest),
            let flag = Self.integer(1, &rest), flag <= 1, let handle = Self.text(&rest),
            let publicKey = Self.text(&rest), let label = Self.text(&rest), rest.isEmpty,
            let words = String(validating: label, as: UTF8.self),
            let credential = Credential(
                handle: handle,
                publicKey: publicKey,
                verifiesUser: flag == 1,
                counter: UInt32(counter)
            )
        else { return nil }
        self.init(label: words, created: Int64(bitPattern: created), credential: credential)
    }

    var content: [UInt8] {
        var content = Self.magic
        Self.append(UInt64(bitPattern: created), 8, to: &content)
        Self.append(UInt64(credential.counter), 4, to: &content)
        Self.append(credential.verifiesUser ? 1 : 0, 1, to: &content)
        for part in [credential.handle, credential.publicKey, Array(label.utf8)] {
            Self.append(UInt64(part.count), 2, to: &content)
            content += part
        }
        return content
    }

    private static func append(_ value: UInt64, _ size: Int, to content: inout [UInt8]) {
        for byte in 0..<size { content.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static func integer(_ size: Int, _ rest: inout ArraySlice<UInt8>) -> UInt64? {
        take(size, &rest).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        integer(2, &rest).flatMap { take(Int($0), &rest) }
    }
}

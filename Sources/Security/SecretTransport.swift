package import DBus
internal import Glibc
package import Linux

@_silgen_name("memfd_create")
/// A function of the C library that Swift's Glibc module lacks; the name is read during the call
/// only.
private func memfdCreate(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32

/// How secrets travel: never as data of a message.
package enum SecretTransport {
    /// The largest secret, in bytes.
    static let limit = 65_536

    /// `MFD_CLOEXEC | MFD_ALLOW_SEALING`, macros that Swift doesn't see.
    private static let memoryFlags: UInt32 = 1 | 2
    /// `F_ADD_SEALS`, and `F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE`.
    private static let addSeals: Int32 = 1033
    private static let seals: Int32 = 2 | 4 | 8

    /// A sealed memfd with the secret, to be handed to the service.
    ///
    /// - Throws: `Failed` when the kernel gives none.
    package static func sealed(_ secret: [UInt8]) throws(DBusError) -> OwnedDescriptor {
        let raw = memfdCreate("secret", memoryFlags)
        guard raw >= 0 else { throw DBusError(.failed, "There is no memory for the secret.") }
        let descriptor = OwnedDescriptor(adopting: raw)
        guard write(raw, secret, secret.count) == secret.count,
            fcntl(raw, addSeals, seals) == 0
        else { throw DBusError(.failed, "The secret can't be sealed.") }
        return descriptor
    }

    /// The packet that came before the reply; nothing came for an empty secret.
    static func packet(at end: OwnedDescriptor) -> [UInt8] {
        // The size first, so that no larger buffer with the secret in it is left behind.
        let look = Int32(MSG_PEEK) | Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT)
        let size = recv(end.rawValue, nil, 0, look)
        guard (1...limit).contains(size) else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = recv(end.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count == size ? bytes : []
    }
}

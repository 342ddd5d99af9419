package import DBus
internal import Glibc
package import Linux

/// How secrets travel: never as data of a message.
package enum SecretTransport {
    /// The largest secret, in bytes.
    static let limit = 65_536

    /// A sealed memfd with the secret, to be handed to the service.
    ///
    /// - Throws: `LimitsExceeded` when the kernel gives none, `Failed` when it doesn't seal it.
    package static func sealed(_ secret: [UInt8]) throws(DBusError) -> OwnedDescriptor {
        guard let memory = SealedMemory.make() else {
            throw DBusError(.limitsExceeded, "There is no memory for the secret.")
        }
        guard memory.write(secret), SealedMemory.seal(memory) else {
            throw DBusError(.failed, "The secret can't be sealed.")
        }
        return memory
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

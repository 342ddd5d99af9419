import DBus
import Glibc
import KeychainStore
import Linux

/// Which secret an app lends to its context; raw values are Apple's.
enum CredentialKind: Int32 {
    case applicationPassword = 0
    case smartCardPIN = -3

    /// - Throws: InvalidArgs for a type that isn't one.
    init(_ raw: Int32) throws(DBusError) {
        guard let kind = CredentialKind(rawValue: raw) else {
            throw .invalid("credential type \(raw) is neither 0 nor -3")
        }
        self = kind
    }
}

extension SecretBytes {
    /// The largest secret that is taken, in bytes.
    private static let limit = KeychainStore.secretLimit
    /// `F_GET_SEALS` of linux/fcntl.h, a macro that Swift doesn't see.
    private static let getSeals: Int32 = 1034
    /// `F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE`, likewise.
    private static let neededSeals: Int32 = 2 | 4 | 8

    /// Reads a sealed memfd: sealed, so that it can't change or shrink while it is read.
    ///
    /// - Throws: InvalidArgs when the descriptor is something else; LimitsExceeded over 64 KiB.
    convenience init(sealed descriptor: OwnedDescriptor) throws(DBusError) {
        let seals = fcntl(descriptor.rawValue, Self.getSeals)
        guard seals >= 0, seals & Self.neededSeals == Self.neededSeals else {
            throw .invalid("the secret is not in a memfd sealed against write, shrink and grow")
        }
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else {
            throw .invalid("the secret's size can't be read")
        }
        guard status.st_size <= Self.limit else { throw .exceeded("the secret is over 64 KiB") }
        let size = Int(status.st_size)
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            got = size == 0 ? 0 : pread(descriptor.rawValue, buffer.baseAddress, size, 0)
            count = max(got, 0)
        }
        self.init(bytes)
        guard got == size else { throw .invalid("the secret can't be read") }
    }

    /// Reads the packet that waits on a prompt's channel; nil: none does.
    ///
    /// - Throws: LimitsExceeded over 64 KiB: the rest of such a packet is lost.
    convenience init?(packetOn descriptor: OwnedDescriptor) throws(DBusError) {
        var size = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, count in
            // The size is the packet's, also where less of it fits.
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC)
            size = recv(descriptor.rawValue, buffer.baseAddress, Self.limit, flags)
            count = min(max(size, 0), Self.limit)
        }
        self.init(bytes)
        guard size > 0 else { return nil }
        guard size <= Self.limit else { throw .exceeded("the secret is over 64 KiB") }
    }
}

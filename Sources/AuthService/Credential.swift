import DBus
import Glibc

/// A secret that an app lends to its context; wiped when it goes.
final class Credential {
    /// Which secret it is; raw values are Apple's.
    enum Kind: Int32 {
        case applicationPassword = 0
        case smartCardPIN = -3
    }

    /// The largest one that is taken, in bytes.
    static let limit = 65_536

    /// `F_GET_SEALS` of linux/fcntl.h, a macro that Swift doesn't see.
    private static let getSeals: Int32 = 1034
    /// `F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE`, likewise.
    private static let neededSeals: Int32 = 2 | 4 | 8

    private var bytes: [UInt8]

    /// - Throws: InvalidArgs for a type that isn't one.
    static func kind(_ raw: Int32) throws(DBusError) -> Kind {
        guard let kind = Kind(rawValue: raw) else {
            throw .invalid("credential type \(raw) is neither 0 nor -3")
        }
        return kind
    }

    /// Reads a sealed memfd: sealed, so that it can't change or shrink while it is read.
    ///
    /// - Throws: InvalidArgs when the descriptor is something else; LimitsExceeded over 64 KiB.
    init(sealed descriptor: OwnedDescriptor) throws(DBusError) {
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
        bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            got = size == 0 ? 0 : pread(descriptor.rawValue, buffer.baseAddress, size, 0)
            count = max(got, 0)
        }
        guard got == size else { throw .invalid("the secret can't be read") }
    }

    deinit {
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { explicit_bzero(base, buffer.count) }
        }
    }
}

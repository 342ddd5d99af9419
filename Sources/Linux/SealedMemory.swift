internal import CLinux
internal import Glibc

/// An anonymous file in memory that can't change any more once it is sealed: a secret is handed to
/// another process in it.
package enum SealedMemory {
    // Macros that Swift doesn't import.
    /// `MFD_CLOEXEC | MFD_ALLOW_SEALING`.
    private static let flags: UInt32 = 1 | 2
    /// `F_ADD_SEALS`.
    private static let addSeals: Int32 = 1033
    /// `F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE`.
    private static let seals: Int32 = 2 | 4 | 8

    /// An empty file, closed on exec; nil with the reason in `errno`.
    package static func make() -> OwnedDescriptor? {
        let descriptor = memfd_create("secret", flags)
        return descriptor < 0 ? nil : OwnedDescriptor(adopting: descriptor)
    }

    /// Forbids every further change; false with the reason in `errno`.
    package static func seal(_ memory: OwnedDescriptor) -> Bool {
        fcntl(memory.rawValue, addSeals, seals) == 0
    }
}

import Glibc

/// Owns one file descriptor, and closes it when the last reference goes.
public final class OwnedDescriptor: Hashable, Sendable {
    /// The number; valid while this object lives.
    public let rawValue: Int32

    /// Takes over a descriptor: from now on nobody else may close it.
    public init(adopting descriptor: Int32) {
        rawValue = descriptor
    }

    /// Makes a copy, closed on exec, of somebody else's descriptor.
    ///
    /// - Throws: `Failed` when it is not open, or the process has too many.
    public init(duplicating descriptor: Int32) throws(DBusError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            throw DBusError(.failed, "The file descriptor cannot be duplicated.")
        }
        rawValue = copy
    }

    deinit {
        if rawValue >= 0 {
            close(rawValue)
        }
    }

    /// The same object, not the same open file.
    public static func == (left: OwnedDescriptor, right: OwnedDescriptor) -> Bool {
        left === right
    }

    /// By identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

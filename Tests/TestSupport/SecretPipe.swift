import BusBench
import CLinux
import Glibc
public import Linux
import Synchronization

/// A pipe, as languages without memfds hand a secret over.
public final class SecretPipe: Sendable {
    /// `F_SETPIPE_SZ` of linux/fcntl.h, a macro that Swift doesn't see.
    private static let setSize: Int32 = 1031

    /// What is passed to the service.
    public let reading: OwnedDescriptor
    private let end: Mutex<OwnedDescriptor?>

    /// An empty one, which has not ended.
    public init() throws(TestFailure) {
        var ends: [Int32] = [-1, -1]
        try expect(pipe2(&ends, O_CLOEXEC) == 0, "a pipe")
        reading = OwnedDescriptor(adopting: ends[0])
        end = Mutex(OwnedDescriptor(adopting: ends[1]))
    }

    /// The other end; nil: it is closed.
    public var writing: OwnedDescriptor? { end.withLock { $0 } }

    /// Writes into it.
    public func write(_ text: String) { _ = writing?.write(Array(text.utf8)) }

    /// Closes the other end.
    public func close() { end.withLock { $0 = nil } }

    /// The reading end of one that has ended, with this in it.
    public static func ended(
        _ bytes: some Collection<UInt8>
    ) throws(TestFailure) -> OwnedDescriptor {
        let pipe = try SecretPipe()
        // Without it a pipe holds 64 KiB.
        let size = fcntl(pipe.reading.rawValue, setSize, 131_072)
        try expect(size >= 131_072, "a pipe with room")
        try expect(pipe.writing?.write(Array(bytes)) == true, "the bytes in a pipe")
        pipe.close()
        return pipe.reading
    }

    /// The same with a text.
    public static func ended(_ text: String) throws(TestFailure) -> OwnedDescriptor {
        try ended(Array(text.utf8))
    }
}

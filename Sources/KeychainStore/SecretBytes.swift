import Glibc
import Synchronization

/// Secret bytes in memory, wiped when the last reference is released.
public final class SecretBytes: Sendable {
    private let bytes: Mutex<[UInt8]>
    /// How many there are.
    public let count: Int

    /// Takes bytes over; a copy that the caller keeps is the caller's to wipe.
    public init(_ bytes: consuming [UInt8]) {
        count = bytes.count
        self.bytes = Mutex(bytes)
    }

    /// Takes the result of a decryption over, and wipes the original.
    init(wiping source: inout some MutableCollection<UInt8>) {
        let copy = Array(source)
        count = copy.count
        bytes = Mutex(copy)
        wipe(&source)
    }

    deinit {
        bytes.withLock { wipe(&$0) }
    }

    /// Lends the bytes, for this call only.
    public func use<Result: Sendable, Failure: Error>(
        _ body: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withLock { bytes throws(Failure) in try body(bytes) }
    }

    /// As many random bytes of the kernel.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

/// Overwrites bytes in a way that no optimizer leaves out.
func wipe(_ bytes: inout some MutableCollection<UInt8>) {
    let wiped: Void? = bytes.withContiguousMutableStorageIfAvailable { buffer in
        if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
    }
    guard wiped == nil else { return }
    for index in bytes.indices {
        bytes[index] = 0
    }
}

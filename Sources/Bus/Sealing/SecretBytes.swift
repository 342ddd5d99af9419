package import FoundationEssentials
import Glibc
import Synchronization

/// Secret bytes in memory, wiped when the last reference is released.
public final class SecretBytes: Sendable {
    private let bytes: Mutex<[UInt8]>
    public let count: Int

    /// Takes the bytes over.
    ///
    /// The caller must wipe any copy that it keeps.
    public init(_ bytes: consuming [UInt8]) {
        count = bytes.count
        self.bytes = Mutex(bytes)
    }

    /// Takes the bytes over with their storage, and leaves `source` empty.
    package convenience init(wiping source: inout [UInt8]) {
        self.init(source)
        source = []
    }

    /// Copies the result of a decryption, and wipes the original.
    package convenience init(wiping source: inout Data) {
        self.init(source.withUnsafeBytes { Array($0) })
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

    /// Returns random bytes from the kernel.
    package static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

/// Overwrites bytes in a way that no optimizer leaves out.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { overwrite($0) }
}

/// Overwrites the result of a decryption.
package func wipe(_ bytes: inout Data) {
    bytes.withUnsafeMutableBytes { overwrite($0) }
}

// SAFETY: the caller owns the bytes, and no code keeps the pointer after the call.
private func overwrite(_ buffer: UnsafeMutableRawBufferPointer) {
    if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
}

import Foundation
import Sealing
import TestSupport
import Testing

// SAFETY: `memmem` is missing in Swift's Glibc module, and keeps no pointers.
@_silgen_name("memmem")
private func find(
    _ bytes: UnsafeRawPointer,
    _ count: Int,
    _ pattern: UnsafeRawPointer,
    _ size: Int
) -> UnsafeRawPointer?

/// Secrets are overwritten when they are released.
@Suite("Wiping")
struct WipeTests {
    @Test("Wiped bytes are zero in every kind of storage")
    func wiped() {
        var array: [UInt8] = [1, 2, 3]
        wipe(&array)
        #expect(array == [0, 0, 0])
        var data = Data([7])
        wipe(&data)
        #expect(data == Data([0]))
        var taken: [UInt8] = [4, 5]
        let secret = SecretBytes(wiping: &taken)
        #expect(taken.isEmpty)
        #expect(secret.bytes == [4, 5])
        var opened = Data([6, 7])
        let other = SecretBytes(wiping: &opened)
        #expect(opened == Data([0, 0]))
        #expect(other.bytes == [6, 7])
    }

    @Test("A released secret is nowhere in the memory of the process")
    func memory() throws {
        let pattern = SecretBytes.random(count: 32)
        var secret: SecretBytes? = SecretBytes((0..<65_536).map { pattern[$0 % 32] })
        var memory = try OwnMemory()
        // The secret holds 2048 copies. The test and its temporary values hold a few.
        #expect(try memory.count(of: pattern) >= 2048)
        #expect(secret?.count == 65_536)
        secret = nil
        #expect(try memory.count(of: pattern) < 16)
    }
}

/// The writable memory of this process, as the kernel shows it.
private struct OwnMemory {
    private let memory: FileHandle
    // Created once, because new arrays could overwrite a released secret and hide it.
    private let parts: [Range<Int>]
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)

    init() throws {
        memory = try #require(FileHandle(forReadingAtPath: "/proc/self/mem"))
        parts = try usedMemory(of: getpid())
    }

    /// Counts the occurrences of a pattern.
    mutating func count(of pattern: [UInt8]) throws -> Int {
        defer { wipe(&buffer) }
        var count = 0
        for part in parts {
            for start in stride(from: part.lowerBound, to: part.upperBound, by: buffer.count) {
                let size = min(buffer.count, part.upperBound - start)
                let read = pread(memory.fileDescriptor, &buffer, size, start)
                if read > 0 { count += occurrences(of: pattern, read) }
            }
        }
        return count
    }

    private func occurrences(of pattern: [UInt8], _ size: Int) -> Int {
        // SAFETY: The pointers do not leave this closure. A Swift loop takes minutes in a debug
        // build.
        buffer.withUnsafeBytes { bytes in
            var (count, offset) = (0, 0)
            while let base = bytes.baseAddress,
                let found = find(base + offset, size - offset, pattern, pattern.count)
            {
                count += 1
                offset = found - base + pattern.count
            }
            return count
        }
    }
}

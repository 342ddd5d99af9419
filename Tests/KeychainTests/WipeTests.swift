import Foundation
import Sealing
import TestSupport
import Testing

/// Not in Swift's Glibc module; nothing is kept.
@_silgen_name("memmem")
private func find(
    _ bytes: UnsafeRawPointer,
    _ count: Int,
    _ pattern: UnsafeRawPointer,
    _ size: Int
) -> UnsafeRawPointer?

/// Secrets are overwritten when nobody has them any more.
@Suite("Wiping")
struct WipeTests {
    @Test("Bytes that are wiped are zero, wherever they lie")
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

    @Test("A secret that nobody has any more is nowhere in the memory of the process")
    func memory() throws {
        let pattern = SecretBytes.random(count: 32)
        var secret: SecretBytes? = SecretBytes((0..<65_536).map { pattern[$0 % 32] })
        var memory = try OwnMemory()
        // It has 2048 of them; this test, and what it hands over, has a few.
        #expect(try memory.count(of: pattern) >= 2048)
        #expect(secret?.count == 65_536)
        secret = nil
        #expect(try memory.count(of: pattern) < 16)
    }
}

/// What this process can write to, as the kernel shows it.
private struct OwnMemory {
    private let memory: FileHandle
    // Made once: new ones could lie where a secret was, and hide it.
    private let parts: [Range<Int>]
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)

    init() throws {
        memory = try #require(FileHandle(forReadingAtPath: "/proc/self/mem"))
        parts = try usedMemory(of: getpid())
    }

    /// How often bytes are in it.
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
        // A loop in Swift takes minutes in a debug build; the pointers stay in here.
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

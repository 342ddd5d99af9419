import CLinux
public import DBus
import Glibc
import Sealing

/// A typed line in protected memory.
///
/// The pages are never swapped, dumped or inherited by a fork, and are wiped whenever the line
/// ends.
public struct SecretLine: ~Copyable {
    /// The longest login password in bytes, which is PAM's limit.
    public static let longestPasscode = 511
    /// The longest item password in bytes; sealed, it fills 64 KiB (contract 5.2).
    public static let longestPassword = 65_488
    private static let inputCapacity = 256
    private static let size = 17 * 4096

    /// The maximum length in bytes; at most ``longestPassword``.
    public var limit = longestPasscode
    /// The number of bytes typed.
    public private(set) var count = 0
    // SAFETY: Wiping and locking need memory that Swift never copies. The pointer is private, and
    // `deinit` unmaps it.
    private let page: UnsafeMutableRawPointer

    /// Maps the memory for an empty line, and makes the process untraceable and undumpable.
    ///
    /// - Throws: Failed if the memory cannot be protected.
    public init() throws(DBusError) {
        guard forbid_tracing() == 0 else {
            throw DBusError(.failed, "This process can't be protected from being traced.")
        }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard
            let page = mmap(nil, Self.size, PROT_READ | PROT_WRITE, flags, -1, 0),
            page != MAP_FAILED
        else {
            throw DBusError(.failed, "There is no memory for a passcode.")
        }
        guard
            mlock(page, Self.size) == 0,
            madvise(page, Self.size, Int32(MADV_DONTDUMP)) == 0,
            madvise(page, Self.size, Int32(MADV_WIPEONFORK)) == 0
        else {
            munmap(page, Self.size)
            throw DBusError(.failed, "The memory for a passcode can't be locked.")
        }
        self.page = page
    }

    deinit {
        explicit_bzero(page, Self.size)
        munmap(page, Self.size)
    }

    public var isEmpty: Bool { count == 0 }

    /// The bytes with a terminating zero; valid as long as the line.
    public var cString: UnsafePointer<CChar> {
        UnsafePointer(page.assumingMemoryBound(to: CChar.self))
    }

    /// Inserts bytes; returns false if they do not all fit.
    public mutating func insert(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard (0...count).contains(offset), bytes.count <= limit - count else { return false }
        let place = page + offset
        memmove(place + bytes.count, place, count - offset)
        if let start = bytes.baseAddress { memcpy(place, start, bytes.count) }
        count += bytes.count
        return true
    }

    /// Removes bytes and zeroes the space that they leave.
    public mutating func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<count)
        memmove(page + range.lowerBound, page + range.upperBound, count - range.upperBound)
        count -= range.count
        explicit_bzero(page + count, range.count)
    }

    /// Appends one byte; returns false if the line is full.
    mutating func append(_ byte: UInt8) -> Bool {
        guard count < limit else { return false }
        page.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
        return true
    }

    /// Removes the last character with all its UTF-8 bytes.
    mutating func eraseCharacter() {
        var isContinuation = true
        while count > 0, isContinuation {
            count -= 1
            let byte = page.load(fromByteOffset: count, as: UInt8.self)
            isContinuation = byte & 0xC0 == 0x80
            page.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        }
    }

    public mutating func wipe() {
        explicit_bzero(page, count)
        count = 0
    }

    /// A copy of the line in memory that is also wiped.
    var secret: SecretBytes { withBytes { SecretBytes($0.withUnsafeBytes { Array($0) }) } }

    /// Passes the typed bytes to `body` without a copy.
    public func withBytes<T, E: Error>(_ body: (RawSpan) throws(E) -> T) throws(E) -> T {
        // SAFETY: The span ends with the call and cannot escape.
        try body(UnsafeRawBufferPointer(start: page, count: count).bytes)
    }

    /// Reads available bytes of a descriptor directly into the page, and passes each to `each`.
    ///
    /// - Returns: The result of read(2).
    mutating func read(from descriptor: Int32, _ each: (inout SecretLine, UInt8) -> Bool) -> Int {
        // The input buffer lies behind the longest line and its zero.
        let input = page + Self.longestPassword + 1
        let size = Glibc.read(descriptor, input, Self.inputCapacity)
        for offset in 0..<max(0, size) {
            let byte = input.load(fromByteOffset: offset, as: UInt8.self)
            guard each(&self, byte) else { break }
        }
        explicit_bzero(input, Self.inputCapacity)
        return size
    }
}

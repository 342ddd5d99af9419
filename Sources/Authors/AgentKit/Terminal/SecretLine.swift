import CLinux
public import DBus
import Glibc
import Sealing

/// A line that is being typed and must not leave this memory: pages that are never swapped, never
/// in a core dump, not inherited by a forked child, and wiped whenever the line ends.
public struct SecretLine: ~Copyable {
    /// The longest password of a login, in bytes: PAM takes no longer one.
    public static let longestPasscode = 511
    /// The longest password of an item, in bytes: sealed, it has 64 KiB (contract 5.2).
    public static let longestPassword = 65_488
    private static let inputCapacity = 256
    private static let size = 17 * 4096

    /// The longest line that is taken, in bytes; at most ``longestPassword``.
    public var limit = longestPasscode
    /// How many bytes were typed.
    public private(set) var count = 0
    // Wiping and locking need memory that the language never copies; private to this type.
    private let page: UnsafeMutableRawPointer

    /// An empty line.
    ///
    /// The process can't be traced or dumped by others from now on.
    /// - Throws: Failed when the memory can't be protected.
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

    /// Whether nothing was typed.
    public var isEmpty: Bool { count == 0 }

    /// The bytes with a zero after them, as C reads them; it lives as long as the line.
    public var cString: UnsafePointer<CChar> {
        UnsafePointer(page.assumingMemoryBound(to: CChar.self))
    }

    /// Puts bytes in between; false when they don't all fit.
    public mutating func insert(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard (0...count).contains(offset), bytes.count <= limit - count else { return false }
        let place = page + offset
        memmove(place + bytes.count, place, count - offset)
        if let start = bytes.baseAddress { memcpy(place, start, bytes.count) }
        count += bytes.count
        return true
    }

    /// Takes bytes out of it, and leaves nothing of them behind.
    public mutating func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<count)
        memmove(page + range.lowerBound, page + range.upperBound, count - range.upperBound)
        count -= range.count
        explicit_bzero(page + count, range.count)
    }

    /// Adds one byte; false when the line is full.
    mutating func append(_ byte: UInt8) -> Bool {
        guard count < limit else { return false }
        page.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
        return true
    }

    /// Takes the last character away, with all its bytes in UTF-8.
    mutating func eraseCharacter() {
        var isContinuation = true
        while count > 0, isContinuation {
            count -= 1
            let byte = page.load(fromByteOffset: count, as: UInt8.self)
            isContinuation = byte & 0xC0 == 0x80
            page.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        }
    }

    /// Overwrites everything that was typed.
    public mutating func wipe() {
        explicit_bzero(page, count)
        count = 0
    }

    /// A copy of the line, which is wiped as well.
    var secret: SecretBytes { withBytes { SecretBytes($0.withUnsafeBytes { Array($0) }) } }

    /// What was typed, where it lies.
    public func withBytes<T, E: Error>(_ body: (RawSpan) throws(E) -> T) throws(E) -> T {
        // The span ends with the call and can't be kept.
        try body(UnsafeRawBufferPointer(start: page, count: count).bytes)
    }

    /// Reads the available bytes of a descriptor directly into the page, and hands them out one by
    /// one.
    /// - Returns: what read(2) said.
    mutating func read(from descriptor: Int32, _ each: (inout SecretLine, UInt8) -> Bool) -> Int {
        // Behind the longest line and its zero.
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

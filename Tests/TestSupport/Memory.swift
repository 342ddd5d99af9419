import Glibc

/// The reason why a process's memory cannot be searched.
public enum MemoryError: Error {
    /// The kernel refuses access, or the process does not exist.
    case unreadable
}

/// Whether the build has a sanitizer, which needs much more memory.
public let isSanitized = getenv("SANITIZED") != nil

/// Counts a text in the writable memory of a process.
public func occurrences(of text: String, in pid: Int32) throws -> Int {
    let memory = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw MemoryError.unreadable }
    defer { close(memory) }
    var count = 0
    for part in try usedMemory(of: pid) {
        var bytes = [UInt8](repeating: 0, count: part.count)
        guard pread(memory, &bytes, bytes.count, part.lowerBound) == bytes.count else { continue }
        count += bytes.withUnsafeBytes { occurrences(of: Array(text.utf8), in: $0) }
    }
    return count
}

/// Lists the writable memory that a process has used.
///
/// Untouched pages are skipped: a sanitizer maps gigabytes of them, which would take minutes to
/// read.
public func usedMemory(of pid: Int32) throws -> [Range<Int>] {
    let pages = open("/proc/\(pid)/pagemap", O_RDONLY | O_CLOEXEC)
    guard pages >= 0 else { throw MemoryError.unreadable }
    defer { close(pages) }
    guard let maps = fopen("/proc/\(pid)/maps", "re") else { throw MemoryError.unreadable }
    defer { fclose(maps) }
    var parts: [Range<Int>] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), maps) != nil {
        let words = String(
            decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        .split(separator: " ")
        guard words.count > 1, words[1].hasPrefix("rw") else { continue }
        let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { continue }
        // Skip the sanitizer's shadow memory: terabytes, but without copies of data.
        guard bounds[1] - bounds[0] < 1 << 36 else { continue }
        parts += usedParts(of: bounds[0]..<bounds[1], pages)
    }
    return parts
}

/// Returns the parts of a mapping that are in memory or swap.
private func usedParts(of mapping: Range<Int>, _ pages: Int32) -> [Range<Int>] {
    let page = Int(getpagesize())
    var parts: [Range<Int>] = []
    var entries = [UInt64](repeating: 0, count: 1 << 15)
    var next = mapping.lowerBound / page
    while next * page < mapping.upperBound {
        let wanted = min(entries.count, mapping.upperBound / page - next)
        let size = wanted * MemoryLayout<UInt64>.size
        guard pread(pages, &entries, size, next * MemoryLayout<UInt64>.size) == size else { break }
        // The top two bits: in memory, in swap.
        for (number, entry) in entries[..<wanted].enumerated() where entry >> 62 != 0 {
            let start = (next + number) * page
            if let last = parts.last, last.upperBound == start {
                parts[parts.count - 1] = last.lowerBound..<start + page
            } else {
                parts.append(start..<start + page)
            }
        }
        next += wanted
    }
    return parts
}

// SAFETY: The search stays within the buffer. memchr is used because a debug build's own loop takes
// seconds.
private func occurrences(of wanted: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
    guard let first = wanted.first, var place = bytes.baseAddress else { return 0 }
    let end = place + bytes.count
    var count = 0
    while end - place >= wanted.count, let found = memchr(place, Int32(first), end - place) {
        let start = UnsafeRawPointer(found)
        if end - start >= wanted.count, memcmp(start, wanted, wanted.count) == 0 { count += 1 }
        place = start + 1
    }
    return count
}

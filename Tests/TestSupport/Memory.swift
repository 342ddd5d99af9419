import Glibc

/// Why the memory of a process was not looked through.
public enum MemoryError: Error {
    /// The kernel refuses it, or there is no such process.
    case unreadable
}

/// How often a text is in the writable memory of a process.
public func occurrences(of text: String, in pid: Int32) throws -> Int {
    let memory = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0, let maps = fopen("/proc/\(pid)/maps", "re") else {
        throw MemoryError.unreadable
    }
    defer {
        close(memory)
        fclose(maps)
    }
    var count = 0
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
        // A sanitizer keeps its own notes in terabytes, of which next to nothing is there.
        guard bounds[1] - bounds[0] < 1 << 36 else { continue }
        var bytes = [UInt8](repeating: 0, count: bounds[1] - bounds[0])
        guard pread(memory, &bytes, bytes.count, bounds[0]) == bytes.count else { continue }
        count += bytes.withUnsafeBytes { occurrences(of: Array(text.utf8), in: $0) }
    }
    return count
}

/// Looks with memchr, because a debug build's own loop takes seconds for this much memory.
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

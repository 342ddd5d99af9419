import Glibc

/// Why a file could not be read or written.
struct FileError: Error, CustomStringConvertible {
    let description: String

    /// Takes what the last system call left in `errno`.
    init(_ path: String) {
        description = "\(path): \(String(cString: strerror(errno)))"
    }

    init(_ path: String, _ message: String) {
        description = "\(path): \(message)"
    }
}

/// Reads a file of at most 1 MiB.
func readFile(_ path: String) throws(FileError) -> [UInt8] {
    let limit = 1 << 20
    guard let file = fopen(path, "re") else { throw FileError(path) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw FileError(path) }
    guard count <= limit else { throw FileError(path, "larger than \(limit) bytes") }
    return Array(bytes[..<count])
}

/// Puts a file in the place of an older one.
func writeFile(_ path: String, _ text: String) throws(FileError) {
    guard let file = fopen(path, "we") else { throw FileError(path) }
    let bytes = Array(text.utf8)
    let count = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, count == bytes.count else { throw FileError(path) }
}

/// The names in a directory that end in `.swift`, sorted.
func swiftFiles(in directory: String) throws(FileError) -> [String] {
    guard let stream = opendir(directory) else { throw FileError(directory) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name.hasSuffix(".swift") { names.append(name) }
    }
    return names.sorted()
}

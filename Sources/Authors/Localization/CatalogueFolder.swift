import Glibc

enum CatalogueFolder {
    /// Finds the folder of the catalogues: `TEXTDOMAINDIR`, or `share/locale` below the
    /// installation prefix or the build folder.
    ///
    /// - Returns: nil if neither exists; the C library then uses its default.
    static func find(domain: String) -> String? {
        if let named = getenv("TEXTDOMAINDIR") { return String(cString: named) }
        var elements = program().split(separator: "/").dropLast()
        // The program lies at most two folders below the prefix: bin, libexec/localauth or the
        // build's platform/debug.
        for _ in 0..<3 where !elements.isEmpty {
            elements.removeLast()
            let folder = elements.map { "/\($0)" }.joined() + "/share/locale"
            if access("\(folder)/de/LC_MESSAGES/\(domain).mo", R_OK) == 0 { return folder }
        }
        return nil
    }

    private static func program() -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let size = readlink("/proc/self/exe", &path, path.count)
        return String(
            decoding: path.prefix(max(0, size)).map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }
}

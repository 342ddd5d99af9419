import Glibc

/// Where the catalogues are.
enum CatalogueFolder {
    /// The folder that `TEXTDOMAINDIR` names, else `share/locale` beside the program: below the
    /// prefix that it is installed in, or in the build folder.
    ///
    /// - Returns: nil when there is none; then the C library looks where it always does.
    static func find(domain: String) -> String? {
        if let named = getenv("TEXTDOMAINDIR") { return String(cString: named) }
        var elements = program().split(separator: "/").dropLast()
        // bin, libexec/localauth and the build's platform/debug are at most two below.
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

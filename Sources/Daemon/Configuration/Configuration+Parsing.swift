extension Configuration {
    /// Reads a file.
    ///
    /// - Throws: What is wrong with the file, or with which line of it.
    package static func read(path: String) throws(ConfigurationError) -> Configuration {
        try parse(bytes: SettingsFile.contents(of: path), file: path)
    }

    /// Reads a text; `file` is what errors call it.
    ///
    /// - Throws: The first line that is wrong.
    package static func parse(
        _ text: String,
        file: String
    ) throws(ConfigurationError) -> Configuration {
        try parse(bytes: Array(text.utf8), file: file)
    }

    static func parse(
        bytes: [UInt8],
        file: String
    ) throws(ConfigurationError) -> Configuration {
        var configuration = Configuration()
        try SettingsFile.parse(bytes, file: file, keys: Key.all.map(\.name)) { name, value in
            guard let key = Key.all.first(where: { $0.name == name }),
                !key.set(value, &configuration)
            else { return nil }
            return key.range
        }
        return configuration
    }
}

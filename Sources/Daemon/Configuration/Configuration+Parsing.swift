extension Configuration {
    /// Reads a settings file.
    ///
    /// - Throws: `ConfigurationError` if the file or a line is wrong.
    package static func read(path: String) throws(ConfigurationError) -> Configuration {
        try parse(bytes: SettingsFile.contents(of: path), file: path)
    }

    /// Parses the text of a settings file.
    ///
    /// Errors name it by `file`.
    ///
    /// - Throws: `ConfigurationError` for the first wrong line.
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

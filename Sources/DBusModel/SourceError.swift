/// What is wrong in an introspection file, and where: `dbus/x.xml:12: …`.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file as it was named to the reader.
    public let file: String

    /// The line, from 1.
    public let line: Int

    /// One clause in plain words, without a full stop.
    public let message: String

    /// Makes an error at a line of a file.
    public init(file: String, line: Int, _ message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// The form that editors and compilers understand.
    public var description: String { "\(file):\(line): \(message)" }
}

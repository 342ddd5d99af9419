import TestSupport
import Testing

/// A fault for a program's source: the original text, the broken text and the check that must find
/// it.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let name: String
    let original: String
    let broken: String
    /// The beginning of the check's sentence.
    let check: String

    init(_ name: String, _ original: String, _ broken: String, _ check: String) {
        (self.name, self.original, self.broken, self.check) = (name, original, broken, check)
    }

    var testDescription: String { name }

    /// Copies `file` with the fault into a folder.
    func plant(in file: String, into folder: borrowing TemporaryFolder, as name: String) throws {
        let text = String(decoding: try TemporaryFolder.read(file), as: UTF8.self)
        try #require(text.ranges(of: original).count == 1, "\(original)")
        try folder.write(name, text.replacing(original, with: broken).utf8)
    }
}

import TestSupport
import Testing

/// A fault in a program's source: what stands there, what stands there instead, and who has to find
/// it.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let name: String
    let original: String
    let broken: String
    /// How the check's sentence begins.
    let check: String

    init(_ name: String, _ original: String, _ broken: String, _ check: String) {
        (self.name, self.original, self.broken, self.check) = (name, original, broken, check)
    }

    var testDescription: String { name }

    /// Writes `file` with the fault in it into a folder.
    func plant(in file: String, into folder: borrowing TemporaryFolder, as name: String) throws {
        let text = String(decoding: try TemporaryFolder.read(file), as: UTF8.self)
        try #require(text.ranges(of: original).count == 1, "\(original)")
        try folder.write(name, text.replacing(original, with: broken).utf8)
    }
}

package import Linux

/// Which sensor each reader is: labels and template ids are kept by the sensor's name, and fprintd
/// lists readers in another order after a start.
///
/// Text, one line for each: number of the sensor, index among readers of the name, and name, with
/// tabs between them.
package struct KnownReaders: Hashable, Sendable {
    private static let name = "fingerprint-readers"
    /// How many sensors there are at most: so many names the bus's policy has.
    package static let most = 4
    static let largestFile = 16 << 10
    /// A reader with a longer name isn't written down: the file could not be read any more.
    private static let longestName = 1024

    private let folder: String
    private var keys: [Int: FprintReader.Key] = [:]

    /// The file below a folder; what is malformed is left out, and one that can't be read refused.
    package init(folder: String) throws(SystemError) {
        self.folder = folder
        let path = "\(folder)/\(Self.name)"
        let content = try PrivateFile.content(of: path, limit: Self.largestFile) ?? []
        for line in content.split(separator: UInt8(ascii: "\n")) {
            let fields =
                line.split(
                    separator: UInt8(ascii: "\t"),
                    maxSplits: 2,
                    omittingEmptySubsequences: false
                )
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 3, let number = Int(fields[0]), let ordinal = Int(fields[1]),
                (1...Self.most).contains(number), keys[number] == nil
            else { continue }
            let key = FprintReader.Key(name: fields[2], ordinal: ordinal)
            if !keys.values.contains(key) { keys[number] = key }
        }
    }

    /// The sensor of a reader, from 1 on.
    ///
    /// A reader that isn't known gets the first number that none has, or else the first of a
    /// reader that isn't there. The only one there has come in the place of the first.
    ///
    /// - Parameters:
    ///   - key: The reader.
    ///   - present: The readers that are there.
    /// - Returns: nil when all numbers belong to readers that are there.
    package mutating func number(
        of key: FprintReader.Key,
        among present: [FprintReader.Key]
    ) -> Int? {
        if let known = keys.first(where: { $0.value == key }) { return known.key }
        let numbers = 1...Self.most
        let free =
            present == [key]
            ? 1
            : numbers.first { keys[$0] == nil }
                ?? numbers.first { keys[$0].map { !present.contains($0) } ?? true }
        guard let free else { return nil }
        keys[free] = key
        return free
    }

    /// Writes down what is known.
    ///
    /// - Returns: Whether it is written; it counts until the process ends in any case.
    package func write() -> Bool {
        let text = keys.sorted { $0.key < $1.key }
            // A name with a line's end would be another line.
            .filter { !$0.value.name.utf8.contains(UInt8(ascii: "\n")) }
            .filter { $0.value.name.utf8.count <= Self.longestName }
            .map { "\($0.key)\t\($0.value.ordinal)\t\($0.value.name)\n" }
            .joined()
        do throws(SystemError) {
            try PrivateDirectory(folder).replace(Self.name, with: Array(text.utf8))
            return true
        } catch {
            return false
        }
    }
}

package import Linux

/// Assigns readers to sensors, and remembers the assignment.
///
/// Labels and template ids are stored by sensor name, but fprintd may list readers in another order
/// after a restart.
///
/// Format: a line of text per reader, with the sensor's number, the index among readers of this
/// name and the name, separated by tabs.
package struct KnownReaders: Hashable, Sendable {
    private static let name = "fingerprint-readers"
    /// The limit on sensors: the number of names in the bus's policy.
    package static let most = 4
    static let largestFile = 16 << 10
    /// The limit on a reader's name.
    ///
    /// Longer names are not saved, because the file could grow too large to be read.
    private static let longestName = 1024

    private let folder: String
    private var keys: [Int: FprintReader.Key] = [:]

    /// Reads the file below a folder and skips malformed lines; throws if the file cannot be read.
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

    /// Returns the sensor number of a reader, from 1.
    ///
    /// An unknown reader gets the first free number, or else the first number of an absent reader.
    /// A reader that is the only one present gets number 1, because it replaces the first reader.
    ///
    /// - Parameters:
    ///   - key: The reader.
    ///   - present: All readers that are plugged in.
    /// - Returns: nil if present readers have all numbers.
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

    /// Saves the assignment.
    ///
    /// - Returns: False if saving failed; the assignment then lasts until the process exits.
    package func write() -> Bool {
        let text = keys.sorted { $0.key < $1.key }
            // A name with a newline would corrupt the file.
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

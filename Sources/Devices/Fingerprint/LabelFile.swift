package import Linux

/// The labels of fingers, which fprintd cannot store.
///
/// A label belongs to a template's id, so a finger whose print is replaced loses it.
///
/// Format: a line of text per label, with uid, sensor, id and label, separated by tabs.
package struct LabelFile: Sendable {
    private struct Entry: Hashable {
        let uid: UInt32
        let sensor: String
        let id: String
        var label: String
    }

    private static let name = "fingerprint-labels"
    private let folder: String
    private var entries: [Entry] = []

    /// Larger than ``mostEntries`` lines of the greatest length.
    static let largestFile = 4 << 20
    static let mostEntries = 4096

    /// Reads the file below a folder, and skips malformed lines.
    ///
    /// Throws if the file cannot be read: the next save would lose its labels.
    package init(folder: String) throws(SystemError) {
        self.folder = folder
        // Split bytes instead of characters: Swift treats a carriage return and newline as a single
        // character, which would not end the line.
        let path = "\(folder)/\(Self.name)"
        let content = try PrivateFile.content(of: path, limit: Self.largestFile) ?? []
        for line in content.split(separator: UInt8(ascii: "\n")).prefix(Self.mostEntries) {
            let fields =
                line.split(
                    separator: UInt8(ascii: "\t"),
                    omittingEmptySubsequences: false
                )
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 4, let uid = UInt32(fields[0]) else { continue }
            entries.append(
                Entry(
                    uid: uid,
                    sensor: fields[1],
                    id: fields[2],
                    label: Self.unescaped(fields[3])
                )
            )
        }
    }

    /// Returns a template's label, or nil if the user gave it none.
    package func label(of id: String, uid: UInt32, sensor: String) -> String? {
        entries.last { $0.uid == uid && $0.sensor == sensor && $0.id == id }?.label
    }

    /// Returns the ids of a user's labelled templates, the newest last.
    package func identifiers(uid: UInt32, sensor: String) -> [String] {
        entries.filter { $0.uid == uid && $0.sensor == sensor }.map(\.id)
    }

    /// Stores a label, and drops labels of the user's templates that no longer exist.
    ///
    /// - Returns: False if saving failed; the label then lasts until the process exits.
    package mutating func set(
        _ label: String,
        of id: String,
        uid: UInt32,
        sensor: String,
        keeping existing: [String]
    ) -> Bool {
        entries.removeAll {
            $0.uid == uid && $0.sensor == sensor && ($0.id == id || !existing.contains($0.id))
        }
        if entries.count >= Self.mostEntries { entries.removeFirst() }
        entries.append(Entry(uid: uid, sensor: sensor, id: id, label: label))
        return write()
    }

    /// Changes the label of an existing template.
    ///
    /// - Returns: False if saving failed; the previous label then stays.
    package mutating func rename(
        _ id: String,
        to label: String,
        uid: UInt32,
        sensor: String,
        keeping existing: [String]
    ) -> Bool {
        let former = entries
        if set(label, of: id, uid: uid, sensor: sensor, keeping: existing) { return true }
        entries = former
        return false
    }

    private func write() -> Bool {
        let text =
            entries.map { entry in
                "\(entry.uid)\t\(entry.sensor)\t\(entry.id)\t\(Self.escaped(entry.label))\n"
            }
            .joined()
        do throws(SystemError) {
            try PrivateDirectory(folder).replace(Self.name, with: Array(text.utf8))
            return true
        } catch {
            return false
        }
    }

    private static func escaped(_ label: String) -> String {
        var text = ""
        for scalar in label.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static let scalars: [Unicode.Scalar: Unicode.Scalar] = [
        "t": "\t", "n": "\n", "r": "\r",
    ]

    private static func unescaped(_ text: String) -> String {
        var label = String.UnicodeScalarView()
        var isEscape = false
        for scalar in text.unicodeScalars {
            if isEscape {
                label.append(scalars[scalar] ?? scalar)
                isEscape = false
            } else if scalar == "\\" {
                isEscape = true
            } else {
                label.append(scalar)
            }
        }
        return String(label)
    }
}

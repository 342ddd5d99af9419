package import Linux

/// The labels that people gave their fingers: fprintd has no place for them.
///
/// A label belongs to a template's id, so one whose print was replaced loses it. Text, one line
/// for each: uid, sensor, id and label, with tabs between them.
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

    /// More than ``mostEntries`` of the longest lines.
    static let largestFile = 4 << 20
    static let mostEntries = 4096

    /// The file below a folder, which is made when it isn't there; what is malformed is left out.
    ///
    /// One that can't be read is refused: what would be written later had nothing of it.
    package init(folder: String) throws(SystemError) {
        self.folder = folder
        // Bytes, because as a Character a carriage return and a newline are one, which isn't a
        // line's end.
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

    /// The label of a template; nil when it has none of its own.
    package func label(of id: String, uid: UInt32, sensor: String) -> String? {
        entries.last { $0.uid == uid && $0.sensor == sensor && $0.id == id }?.label
    }

    /// The ids of a user that have a label, the newest last.
    package func identifiers(uid: UInt32, sensor: String) -> [String] {
        entries.filter { $0.uid == uid && $0.sensor == sensor }.map(\.id)
    }

    /// Stores a label, and keeps those of the user's other templates that still exist.
    ///
    /// - Returns: Whether it was written down; it counts until the process ends in any case.
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

    /// The same for a template that is there already.
    ///
    /// - Returns: Whether it was written down; the former label stays if it wasn't.
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

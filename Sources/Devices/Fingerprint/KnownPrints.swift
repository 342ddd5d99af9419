package import Linux

/// Remembers the id of each listed finger's template, and its print.
///
/// The id stays stable while the print does, even if the files become visible late: fprintd creates
/// its folder at the first enrolment, and a sandbox may see it even later.
///
/// Format: a line of text per entry, with uid, sensor, finger, id, print and time, separated by
/// tabs.
package struct KnownPrints: Sendable {
    private struct Entry: Hashable {
        let uid: UInt32
        let sensor: String
        let finger: Finger
        var id: String
        /// The digest of its files; empty if they could not be seen.
        var print: String
        /// The time of that digest, in nanoseconds since 1970.
        var since: Int64
    }

    private static let name = "fingerprint-ids"
    static let mostEntries = 4096
    static let largestFile = 2 << 20

    private let folder: String
    private var entries: [Entry] = []
    private var isChanged = false

    /// Reads the file below a folder, and skips malformed lines.
    ///
    /// Throws if the file cannot be read: without it, fingers would get new ids.
    package init(folder: String) throws(SystemError) {
        self.folder = folder
        let path = "\(folder)/\(Self.name)"
        let content = try PrivateFile.content(of: path, limit: Self.largestFile) ?? []
        for line in content.split(separator: UInt8(ascii: "\n")).prefix(Self.mostEntries) {
            let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 6, let uid = UInt32(fields[0]),
                let finger = Finger(rawValue: fields[2]), let since = Int64(fields[5]),
                (1...256).contains(fields[3].utf8.count)
            else { continue }
            entries.append(
                Entry(
                    uid: uid,
                    sensor: fields[1],
                    finger: finger,
                    id: fields[3],
                    print: fields[4],
                    since: since
                )
            )
        }
    }

    /// Returns the id of a finger that fprintd lists.
    ///
    /// - Parameters:
    ///   - finger: The finger.
    ///   - uid: The user.
    ///   - sensor: The sensor with the print.
    ///   - print: The digest of its files; nil if they cannot be seen.
    ///   - modified: When the newest file was written, in nanoseconds since 1970.
    ///   - stamp: The id with a time that an enrolment without visible files assigned.
    ///   - now: The time, in nanoseconds since 1970.
    /// - Returns: The previous id, unless the print has changed.
    package mutating func identifier(
        of finger: Finger,
        uid: UInt32,
        sensor: String,
        print: String?,
        modified: Int64,
        stamp: String?,
        now: Int64
    ) -> String {
        let index = index(of: finger, uid, sensor)
        let known = index.map { entries[$0] }
        var entry = Entry(
            uid: uid,
            sensor: sensor,
            finger: finger,
            id: known?.id ?? stamp ?? finger.rawValue,
            print: known?.print ?? "",
            since: known?.since ?? stamp.flatMap(Self.time) ?? now
        )
        if let print, print != entry.print {
            // Files seen for the first time belong to the known print unless they were written
            // later.
            let isSame =
                entry.print.isEmpty && (known != nil || stamp != nil) && modified <= entry.since
            if !isSame { entry.id = print }
            entry.print = print
            entry.since = now
        }
        put(entry, at: index)
        return entry.id
    }

    /// Drops the entry of a finger that was enrolled anew.
    package mutating func forget(_ finger: Finger, uid: UInt32, sensor: String) {
        guard let index = index(of: finger, uid, sensor) else { return }
        entries.remove(at: index)
        isChanged = true
    }

    /// Drops entries of a user's other fingers, which have no print.
    package mutating func keep(only fingers: [Finger], uid: UInt32, sensor: String) {
        let count = entries.count
        entries.removeAll {
            $0.uid == uid && $0.sensor == sensor && !fingers.contains($0.finger)
        }
        if entries.count != count { isChanged = true }
    }

    /// Saves changes.
    ///
    /// - Returns: False if saving failed; the changes then last until the process exits.
    package mutating func write() -> Bool {
        guard isChanged else { return true }
        let text =
            entries.map { entry in
                "\(entry.uid)\t\(entry.sensor)\t\(entry.finger.rawValue)\t\(entry.id)\t"
                    + "\(entry.print)\t\(entry.since)\n"
            }
            .joined()
        do throws(SystemError) {
            try PrivateDirectory(folder).replace(Self.name, with: Array(text.utf8))
            isChanged = false
            return true
        } catch {
            return false
        }
    }

    private func index(of finger: Finger, _ uid: UInt32, _ sensor: String) -> Int? {
        entries.lastIndex { $0.uid == uid && $0.sensor == sensor && $0.finger == finger }
    }

    private mutating func put(_ entry: Entry, at index: Int?) {
        if let index {
            guard entries[index] != entry else { return }
            entries[index] = entry
        } else {
            if entries.count >= Self.mostEntries { entries.removeFirst() }
            entries.append(entry)
        }
        isChanged = true
    }

    /// Returns the time in an id such as `right-thumb.1790000000000000000`.
    private static func time(in stamp: String) -> Int64? {
        stamp.split(separator: ".").last.flatMap { Int64($0) }
    }
}

package import Linux

/// Under which ids fingers were listed, and by which print.
///
/// The id of a template stays while its print is the same, whether or not the files can be seen:
/// fprintd's folder may appear only when its first finger is enrolled, and to a sandbox even later.
/// Text, one line for each: uid, sensor, finger, id, print and time, with tabs between them.
package struct KnownPrints: Sendable {
    private struct Entry: Hashable {
        let uid: UInt32
        let sensor: String
        let finger: Finger
        var id: String
        /// What its files said; empty: they could not be seen.
        var print: String
        /// When that was, in nanoseconds since 1970.
        var since: Int64
    }

    private static let name = "fingerprint-ids"
    static let mostEntries = 4096
    static let largestFile = 2 << 20

    private let folder: String
    private var entries: [Entry] = []
    private var isChanged = false

    /// The file below a folder; what is malformed is left out.
    ///
    /// One that can't be read is refused: without it fingers would get other ids.
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

    /// The id of a finger that fprintd lists.
    ///
    /// - Parameters:
    ///   - finger: Which finger.
    ///   - uid: Whose.
    ///   - sensor: On which sensor.
    ///   - print: What its files say; nil: they can't be seen.
    ///   - modified: When the newest of them was written, in nanoseconds since 1970.
    ///   - stamp: The id that an enrolment without files was given, with its time.
    ///   - now: The time, in nanoseconds since 1970.
    /// - Returns: The same id as before, unless the print is another.
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
            // Files that are seen for the first time are those that were there all the while,
            // unless they were written since.
            let isSame =
                entry.print.isEmpty && (known != nil || stamp != nil) && modified <= entry.since
            if !isSame { entry.id = print }
            entry.print = print
            entry.since = now
        }
        put(entry, at: index)
        return entry.id
    }

    /// A finger was enrolled anew: what was known of it is void.
    package mutating func forget(_ finger: Finger, uid: UInt32, sensor: String) {
        guard let index = index(of: finger, uid, sensor) else { return }
        entries.remove(at: index)
        isChanged = true
    }

    /// The other fingers of a user have no print any more.
    package mutating func keep(only fingers: [Finger], uid: UInt32, sensor: String) {
        let count = entries.count
        entries.removeAll {
            $0.uid == uid && $0.sensor == sensor && !fingers.contains($0.finger)
        }
        if entries.count != count { isChanged = true }
    }

    /// Writes down what has changed.
    ///
    /// - Returns: Whether it is written; it counts until the process ends in any case.
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

    /// The time in an id such as `right-thumb.1790000000000000000`.
    private static func time(in stamp: String) -> Int64? {
        stamp.split(separator: ".").last.flatMap { Int64($0) }
    }
}

import DBus

/// On whose behalf a caller says that it asks.
///
/// Only the caller says so: it is shown and written down beside the caller, and decides nothing.
struct Requester: Hashable, Sendable {
    /// The name to show, cleaned and never blank.
    let name: String
    /// Its process; 0: not told.
    let pid: UInt32

    /// Nil without one.
    ///
    /// - Throws: InvalidArgs for a wrong type, or a name that nobody could read.
    init?(_ options: [String: Variant]) throws(DBusError) {
        guard let values = try OptionReader(options).value("requester", \.asDictionary)
        else { return nil }
        let reader = OptionReader(values)
        guard let name = try reader.title("name"), !name.isEmpty else {
            throw .invalid("option requester has no name")
        }
        self.name = name
        pid = try reader.value("pid", \.asUInt32) ?? 0
    }
}

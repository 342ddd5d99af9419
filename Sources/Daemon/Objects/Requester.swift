import DBus

/// The app on whose behalf a caller claims to ask.
///
/// The daemon does not verify the claim. Prompt and audit show it beside the caller, and no
/// decision depends on it.
struct Requester: Hashable, Sendable {
    /// The name to show, cleaned and never blank.
    let name: String
    /// The app's pid; 0 if not stated.
    let pid: UInt32

    /// Reads the option `requester`; nil without it.
    ///
    /// - Throws: InvalidArgs for a wrong type, or an unreadable name.
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

import DBus

/// The last options of each user that no method knows.
///
/// An unknown option is no error, because a later version may define it. A diagnosis reports
/// misspelled options.
@BusActor
final class UnknownOptions {
    struct Use: Hashable {
        /// Only plain characters, at most ``longestName`` of them.
        let name: String
        /// The interface without its prefix, and the method.
        let method: String
    }

    static let limit = 8
    /// The longest name that is kept, in characters.
    static let longestName = 64
    /// For how many users options are kept, because user namespaces can provide very many uids.
    static let userLimit = 64

    /// Ordered from oldest to newest, both users and their options.
    private var users: [(uid: UInt32, uses: [Use])] = []

    /// Keeps the names that the method does not know.
    ///
    /// - Parameters:
    ///   - options: a dictionary of the call.
    ///   - call: determines the method and so the known names.
    ///   - names: the known names of a nested dictionary; nil for the method's options.
    func take(
        _ options: [String: Variant],
        of call: IncomingCall,
        among names: Set<String>? = nil
    ) {
        // `requester` is a dictionary among the options.
        if names == nil, let requester = options["requester"]?.asDictionary {
            take(requester, of: call, among: OptionNames.requester)
        }
        guard let known = names ?? OptionNames.table[call.interface]?[call.member] else { return }
        // Sort by bytes, because comparing long names as texts is slow.
        let unknown = options.keys.filter { !known.contains($0) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .prefix(Self.limit)
        guard !unknown.isEmpty else { return }
        let interface = call.interface.split(separator: ".").last ?? ""
        let index = users.firstIndex { $0.uid == call.peer.uid }
        var user = index.map { users.remove(at: $0) } ?? (uid: call.peer.uid, uses: [])
        for name in unknown {
            let use = Use(name: Self.plain(name), method: "\(interface).\(call.member)")
            user.uses.removeAll { $0 == use }
            user.uses.append(use)
        }
        user.uses = user.uses.suffix(Self.limit)
        users = users.suffix(Self.userLimit - 1) + [user]
    }

    /// Returns a phrase for each option of a user, newest first.
    ///
    /// Root also gets the newest option of each other user, so that no user's options hide
    /// another's.
    func phrases(for uid: UInt32) -> [String] {
        let own = users.first { $0.uid == uid }?.uses.reversed() ?? []
        var phrases = own.map { "\($0.name) (\($0.method))" }
        guard uid == 0 else { return phrases }
        for user in users.reversed() where user.uid != 0 {
            guard let use = user.uses.last else { continue }
            phrases.append("\(use.name) (\(use.method), user \(user.uid))")
        }
        return phrases
    }

    /// Replaces all characters except ASCII letters, digits and few signs, so that a name can't
    /// pass for a sentence of the service.
    private static func plain(_ name: String) -> String {
        let shown = name.unicodeScalars.prefix(longestName)
            .map { scalar in
                let isPlain =
                    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                    || ("0"..."9").contains(scalar) || "-_.".unicodeScalars.contains(scalar)
                return isPlain ? Character(scalar) : "?"
            }
        return shown.isEmpty ? "?" : String(shown)
    }
}

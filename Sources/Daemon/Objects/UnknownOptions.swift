import DBus

/// The options that callers gave and no method knows, for each user the last ones.
///
/// An option may come with a later version, so it is no error; who misspelled one learns it from a
/// diagnosis.
@BusActor
final class UnknownOptions {
    /// One name, and the method that it was given to.
    struct Use: Hashable {
        /// Without what could mislead a reader, at most ``longestName`` characters.
        let name: String
        /// The interface without its prefix, and the method.
        let method: String
    }

    /// How many are kept of a user.
    static let limit = 8
    /// The longest name that is kept, in characters.
    static let longestName = 64
    /// Of how many users they are kept: user namespaces have more than anybody needs.
    static let userLimit = 64

    /// The newest last, of users and of each one's.
    private var users: [(uid: UInt32, uses: [Use])] = []

    /// Keeps the names that the method has no meaning for.
    ///
    /// - Parameters:
    ///   - options: a dictionary of the call.
    ///   - call: whose method says which names are known.
    ///   - names: those of a dictionary that is not the method's options.
    func take(
        _ options: [String: Variant],
        of call: IncomingCall,
        among names: Set<String>? = nil
    ) {
        // A dictionary among the options.
        if names == nil, let requester = options["requester"]?.asDictionary {
            take(requester, of: call, among: OptionNames.requester)
        }
        guard let known = names ?? OptionNames.table[call.interface]?[call.member] else { return }
        // By their bytes: as texts, long names take long to be compared.
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

    /// Those of a user, the newest first, each as one phrase; root also learns the newest one of
    /// each other user, so that nobody's hide another's.
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

    /// A name has letters of ASCII, digits and few signs; others could pass for a sentence of ours.
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

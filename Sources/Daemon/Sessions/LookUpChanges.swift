/// What is being looked up, and how often each of it has changed meanwhile.
struct LookUpChanges<Key: Hashable> {
    private var loads: [Key: (lookUps: Int, changes: Int)] = [:]

    /// How often something that is being looked up has changed; nil: nobody looks it up.
    func count(of key: Key) -> Int? { loads[key]?.changes }

    /// Somebody looks it up, until `end`.
    mutating func begin(_ key: Key) { loads[key, default: (0, 0)].lookUps += 1 }

    mutating func end(_ key: Key) {
        loads[key]?.lookUps -= 1
        if loads[key]?.lookUps == 0 { loads[key] = nil }
    }

    mutating func changed(_ key: Key) { loads[key]?.changes += 1 }

    mutating func changedAll() { for key in loads.keys { loads[key]?.changes += 1 } }
}

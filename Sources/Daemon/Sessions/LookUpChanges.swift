/// Counts changes of keys while they are being looked up, to detect outdated results.
struct LookUpChanges<Key: Hashable> {
    private var loads: [Key: (lookUps: Int, changes: Int)] = [:]

    /// Returns how often a key has changed during its look-ups; nil without a look-up.
    func count(of key: Key) -> Int? { loads[key]?.changes }

    mutating func begin(_ key: Key) { loads[key, default: (0, 0)].lookUps += 1 }

    mutating func end(_ key: Key) {
        loads[key]?.lookUps -= 1
        if loads[key]?.lookUps == 0 { loads[key] = nil }
    }

    mutating func changed(_ key: Key) { loads[key]?.changes += 1 }

    mutating func changedAll() { for key in loads.keys { loads[key]?.changes += 1 } }
}

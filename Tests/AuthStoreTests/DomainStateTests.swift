import AuthStore
import Foundation
import TestSupport
import Testing

/// L12: The domain state that apps compare.
struct DomainStateTests {
    private func enrolment(_ sensors: [String: [String]], generation: UInt64 = 1) -> Enrolment {
        var enrolment = Enrolment()
        enrolment.templates = sensors
        enrolment.generation = generation
        return enrolment
    }

    @Test("L12: A domain state has 32 bytes and survives a restart")
    func equal() throws {
        let folder = try StateFolder()
        let enrolment = enrolment(["A": ["1", "2"], "B": ["3"]])
        let (store, _) = try folder.open()
        let state = store.domainState(of: enrolment, uid: 1000)
        #expect(state?.count == 32)
        #expect(store.domainState(of: enrolment, uid: 1000) == state)
        store.close()
        #expect(try folder.open().store.domainState(of: enrolment, uid: 1000) == state)
    }

    @Test("R41, L12: Without templates there is no domain state")
    func none() throws {
        let folder = try StateFolder()
        let store = try folder.open().store
        #expect(store.domainState(of: Enrolment(), uid: 1) == nil)
        #expect(store.domainState(of: enrolment([:], generation: 9), uid: 1) == nil)
        #expect(store.domainState(of: enrolment(["A": []]), uid: 1) == nil)
    }

    @Test("R40, L12: Adding, removing and adding again each change the domain state")
    func changes() throws {
        let folder = try StateFolder()
        let store = try folder.open().store
        var enrolment = Enrolment()
        var states: [[UInt8]] = []
        for ids in [["1"], ["1", "2"], ["1"], ["1", "2"], [], ["1"]] {
            enrolment.expectChange(sensor: "A", ids: ids)
            if let state = store.domainState(of: enrolment, uid: 1) { states.append(state) }
        }
        #expect(states.count == 5)
        #expect(Set(states).count == 5)
    }

    @Test("L12: Every input counts, and no two inputs encode alike")
    func inputs() throws {
        let folder = try StateFolder()
        let store = try folder.open().store
        let enrolments = [
            enrolment(["A": ["1"]]), enrolment(["A": ["2"]]), enrolment(["B": ["1"]]),
            enrolment(["A": ["1"]], generation: 2), enrolment(["A": ["1", "2"]]),
            enrolment(["A": ["12"]]), enrolment(["A": ["12", ""]]),
            enrolment(["A": ["1"], "B": ["2"]]),
            enrolment(["A": ["1", "B", "2"]]), enrolment(["A1": [""]]),
            enrolment(["A": ["", "1"]]),
            enrolment(["A": ["\u{E9}"]]), enrolment(["A": ["e\u{301}"]]),
        ]
        let states = enrolments.flatMap { enrolment in
            [1, 2].map { store.domainState(of: enrolment, uid: $0) }
        }
        #expect(Set(states).count == 2 * enrolments.count)
    }

    @Test("L12: The domain state depends on the machine key and the database")
    func machines() throws {
        let enrolment = enrolment(["A": ["1"]])
        let first = try StateFolder()
        let second = try StateFolder()
        let state = try first.open().store.domainState(of: enrolment, uid: 1)
        #expect(try second.open().store.domainState(of: enrolment, uid: 1) != state)
        #expect(try first.read("machine.key") != second.read("machine.key"))
        // Vary the database with an equal key, then the key with an equal database.
        try second.write(first.read("machine.key"), to: "machine.key")
        #expect(try second.open().store.domainState(of: enrolment, uid: 1) != state)
        try second.write(first.read("state.sqlite"), to: "state.sqlite")
        #expect(try second.open().store.domainState(of: enrolment, uid: 1) == state)
        try second.write(Array(repeating: 7, count: 32), to: "machine.key")
        #expect(try second.open().store.domainState(of: enrolment, uid: 1) != state)
    }

    @Test("L12: It is an HMAC-SHA-256 of the database, the user, the generation and the templates")
    func bytes() throws {
        let folder = try StateFolder()
        try folder.open().store.close()
        try folder.write(0..<32, to: "machine.key")
        let identity = "000102030405060708090A0B0C0D0E0F"
        try folder.tamper("UPDATE meta SET value = x'\(identity)' WHERE name = 'identity'")
        let enrolment = enrolment(
            ["Finger": ["\u{E9}"], "Face": ["a", "bc"], "Key": []],
            generation: 0x0506_0708_090A_0B0C
        )
        let state = try folder.open().store.domainState(of: enrolment, uid: 0x0102_0304)
        // The HMAC covers the label `org.localauth.DomainState.1`, the identity, the uid (four
        // bytes) and the generation (eight bytes).
        // Then follow the sensors in the order of their names: name, number of ids and each id.
        // Texts follow their length in eight bytes. All numbers are big-endian.
        let expected = "97e4a2a9ff31a1a8ea279b15fadce7759e463e684f81d309ac6c61fe7528dc94"
        #expect(state?.map { String(format: "%02x", $0) }.joined() == expected)
    }

    @Test("L12: Generations that restart after damage never repeat an old state")
    func afterDamage() throws {
        let folder = try StateFolder()
        let enrolment = enrolment(["A": ["1"]])
        let state = try folder.open().store.domainState(of: enrolment, uid: 1)
        try folder.write(Array("garbage".utf8), to: "state.sqlite")
        #expect(try folder.open().store.domainState(of: enrolment, uid: 1) != state)
    }
}

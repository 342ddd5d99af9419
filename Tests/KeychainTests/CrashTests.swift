import AuthEngine
import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

/// L17: every acknowledged write survives kill -9 at any instant, and no half of another is seen.
///
/// `LA_KEYCHAIN_ROUNDS` sets how many times it is tried; 500 in the nightly form.
@Suite("Crashes", .serialized)
struct CrashTests {
    private static var rounds: Int {
        let text = ProcessInfo.processInfo.environment["LA_KEYCHAIN_ROUNDS"]
        return text.flatMap { Int($0) } ?? 15
    }

    /// What the probe said: the items that must be there, and the one that may have changed.
    private struct Expected {
        var secrets: [String: String] = [:]
        var labels: [String: String] = [:]
        var begun: [Substring] = []

        mutating func take(_ line: String) {
            let words = line.split(separator: " ")
            guard words[0] != "begin" else {
                begun = Array(words.dropFirst())
                return
            }
            begun = []
            guard words[0] != "failed" else { return }
            let id = String(words[1])
            switch words[0] {
            case "add": (secrets[id], labels[id]) = (String(words[2]), String(words[2]))
            case "replace":
                (secrets[id], labels[id]) = (nil, nil)
                take(words.dropFirst(2).reduce("add") { $0 + " " + $1 })
            case "set": secrets[id] = String(words[2])
            case "label": labels[id] = String(words[2])
            default: (secrets[id], labels[id]) = (nil, nil)
            }
        }
    }

    @Test("What was acknowledged before a kill at any instant is there, and nothing by halves")
    func killed() throws {
        var random = SeededGenerator()
        for round in 0..<Self.rounds {
            let folder = try StateFolder("keychain")
            // The same folder again: a keychain that was killed goes on.
            var expected = Expected()
            for _ in 0..<2 {
                try killOnce(folder, &expected, isEarly: round % 5 == 0, using: &random)
                try expectAcknowledged(folder, &expected)
            }
        }
    }

    /// How one write of a keychain ends.
    enum Fault: CaseIterable {
        /// It fails, and the process is killed at once.
        case failsLast
        /// It fails, and the process goes on.
        case fails
        /// The process ends in it.
        case kills
    }

    @Test(
        "L17: whichever write of a keychain fails, its change has not happened, and the next does",
        arguments: Fault.allCases
    )
    func failing(_ fault: Fault) throws {
        let faults = try Faults()
        let isNightly = ProcessInfo.processInfo.environment["LA_NIGHTLY"] != nil
        // What was only not confirmed is the hardest to be rid of; each other write by night.
        let kind = fault == .kills || isNightly ? Faults.Kind.disk : .barrier
        let step = fault == .kills && !isNightly ? 13 : 1
        var number = 1 - step
        repeat {
            number += step
            let folder = try StateFolder("keychain")
            faults.arm(kind, number, with: fault == .kills ? nil : EIO)
            let words = ["KeychainCrashProbe", folder.path, "7"]
            var expected = Expected()
            let probe = try ChildProcess(
                words,
                environment: faults.environment,
                hasStream: true
            )
            var (changes, isOver) = (0, false)
            while changes < 6, !isOver, let line = try probe.line() {
                if line.hasPrefix("failed") { isOver = fault == .failsLast }
                guard line != "open" else { continue }
                expected.take(line)
                if !line.hasPrefix("begin") { changes += 1 }
            }
            probe.signal(SIGKILL)
            try probe.wait()
            for line in try probe.lines() where line != "open" { expected.take(line) }
            faults.disarm()
            try expectAcknowledged(folder, &expected, "write \(number)")
            try expectUsable(folder)
        } while faults.failed > 0
        #expect(number > 6)
    }

    @Test(
        "L17: Whichever read of a keychain fails, once or for good, nothing of it is set aside",
        arguments: [false, true]
    )
    func unread(isForGood: Bool) throws {
        let (folder, faults) = (try StateFolder("keychain"), try Faults())
        let id = try folder.open().add("a")
        var number = 0
        repeat {
            number += 1
            faults.arm(.read, number, lasts: isForGood, with: EIO)
            let probe = try ChildProcess(
                ["KeychainCrashProbe", folder.path, "remove"],
                environment: faults.environment,
                hasStream: true
            )
            let line = try probe.line() ?? "nothing"
            probe.signal(SIGKILL)
            try probe.wait()
            faults.disarm()
            let isOpen = line == "open"
            #expect(isOpen || (line.hasPrefix("failed") && faults.failed > 0), "\(number): \(line)")
            let store = try folder.open()
            #expect(store.setAside == nil && !store.isLost, "\(number): \(line)")
            #expect(try store.read(id) == "secret", "\(number): \(line)")
        } while faults.failed > 0
        #expect(number > 3)
    }

    @Test("L18: A new folder, its key and their names are on the disk before anything else is")
    func newKey() throws {
        let (folder, faults) = (try StateFolder("keychain"), try Faults())
        let probe = try ChildProcess(
            ["KeychainCrashProbe", folder.path, "7"],
            environment: faults.environment,
            hasStream: true
        )
        #expect(try probe.line() == "open")
        probe.signal(SIGKILL)
        try probe.wait()
        let written = faults.synchronised
        #expect(written.first == folder.path, "\(written)")
        let key = try #require(written.lastIndex(of: folder.file("master.key.new")), "\(written)")
        // From then on the key is used.
        let beside = written[key...].prefix { !$0.hasSuffix("-wal") }
        #expect(beside.contains(folder.path + "/keychain"), "\(written)")
    }

    @Test("L18: A new folder whose name didn't get onto the disk is made anew by the next start")
    func newFolder() throws {
        let (folder, faults) = (try StateFolder("keychain"), try Faults())
        faults.arm(.barrier, 1, with: EIO)
        for begins in ["failed", "open"] {
            let probe = try ChildProcess(
                ["KeychainCrashProbe", folder.path, "7"],
                environment: faults.environment,
                hasStream: true
            )
            let line = try #require(try probe.line())
            #expect(line.hasPrefix(begins), "\(line)")
            probe.signal(SIGKILL)
            try probe.wait()
        }
        let written = faults.synchronised
        #expect(written.first == folder.path, "\(written)")
    }

    /// A keychain takes an item, and has it.
    private func expectUsable(_ folder: StateFolder) throws {
        let store = try folder.open()
        let caller = Caller(uid: 1000, app: nil, enrolment: nil)
        let id = try store.add(
            try Attributes(["class": .text("genp"), "svce": .text("after")]),
            secret: SecretBytes(Array("after".utf8)),
            accessControl: .none,
            password: nil,
            replacing: nil,
            caller: caller,
            date: 0
        )
        #expect(try store.read(id, caller: caller) == "after")
    }

    @Test("A keychain of format 1 whose upgrade was killed at any instant has all it had")
    func killedUpgrading() throws {
        var random = SeededGenerator()
        for _ in 0..<Self.rounds {
            let folder = try StateFolder("keychain")
            try Format1.put(into: folder)
            let words = ["KeychainCrashProbe", folder.path, "\(random.next())"]
            let probe = try ChildProcess(words, hasStream: true)
            let end =
                ContinuousClock.now + .microseconds(Int.random(in: 0...40_000, using: &random))
            while ContinuousClock.now < end {}
            probe.signal(SIGKILL)
            try probe.wait()
            let store = try folder.open()
            #expect(store.setAside == nil && !store.isLost)
            #expect(try store.itemCount(of: 0) == 44)
            let caller = Caller(uid: 0, app: nil, enrolment: nil)
            let found = try store.find(["acct": .text("account 40")], caller: caller)
            #expect(try found.map { try store.read($0.id, caller: caller) } == ["secret 40"])
        }
    }

    private func killOnce(
        _ folder: StateFolder,
        _ expected: inout Expected,
        isEarly: Bool,
        using random: inout SeededGenerator
    ) throws {
        let words = ["KeychainCrashProbe", folder.path, "\(random.next())"]
        let probe = try ChildProcess(words, hasStream: true)
        let count = isEarly ? 0 : Int.random(in: 1...120, using: &random)
        for _ in 0..<count {
            let line = try #require(try probe.line())
            if line != "open" { expected.take(line) }
        }
        let end = ContinuousClock.now + .microseconds(Int.random(in: 0...4000, using: &random))
        while ContinuousClock.now < end {}
        probe.signal(SIGKILL)
        try probe.wait()
        for line in try probe.lines() where line != "open" {
            #expect(!line.hasPrefix("failed"), "\(line)")
            expected.take(line)
        }
    }

    private func expectAcknowledged(
        _ folder: StateFolder,
        _ expected: inout Expected,
        _ what: Comment = "a kill"
    ) throws {
        let store = try folder.open()
        #expect(store.setAside == nil && !store.isLost, what)
        let begun = expected.begun.map(String.init)
        let caller = Caller(uid: 1000, app: nil, enrolment: nil)
        var secrets: [String: String] = [:]
        var labels: [String: String] = [:]
        for item in try store.find(caller: caller) {
            let words = try store.read(item.id, caller: caller).split(separator: " ")
            #expect(words.count == 300 && Set(words).count == 1)
            secrets[item.id] = words.first.map(String.init)
            if case .text(let label) = item.attributes.values["labl"] { labels[item.id] = label }
        }
        if (secrets, labels) != (expected.secrets, expected.labels) {
            // Then the change that had begun is there, all of it.
            if ["add", "replace"].contains(begun.first) {
                let added = secrets.keys.first { expected.secrets[$0] == nil } ?? "none"
                let line = begun.dropLast() + [added] + begun.suffix(1)
                expected.take(line.joined(separator: " "))
            } else if !begun.isEmpty {
                expected.take(begun.joined(separator: " "))
            }
            #expect(secrets == expected.secrets, what)
            #expect(labels == expected.labels, what)
        }
        expected.begun = []
    }
}

import AuthEngine
import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

/// L17: Acknowledged writes survive kill -9 at any time, and no partial write is visible.
///
/// `LA_KEYCHAIN_ROUNDS` sets the number of rounds; nightly runs use 500.
@Suite("Crashes", .serialized)
struct CrashTests {
    private static var rounds: Int {
        let text = ProcessInfo.processInfo.environment["LA_KEYCHAIN_ROUNDS"]
        return text.flatMap { Int($0) } ?? 15
    }

    /// The items that must exist, and the change in progress, from the probe's output.
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

    @Test("Acknowledged writes survive a kill at any time, and none is partial")
    func killed() throws {
        var random = SeededGenerator()
        for round in 0..<Self.rounds {
            let folder = try StateFolder("keychain")
            // Use the folder again: a killed keychain must continue to work.
            var expected = Expected()
            for _ in 0..<2 {
                try killOnce(folder, &expected, isEarly: round % 5 == 0, using: &random)
                try expectAcknowledged(folder, &expected)
            }
        }
    }

    /// The failure mode of a write.
    enum Fault: CaseIterable {
        /// The write fails, and the test kills the process at once.
        case failsLast
        /// The write fails, and the process continues.
        case fails
        /// The process is killed during the write.
        case kills
    }

    @Test(
        "L17: A failed write leaves no part of its change, and the next change succeeds",
        arguments: Fault.allCases
    )
    func failing(_ fault: Fault) throws {
        let faults = try Faults()
        let isNightly = ProcessInfo.processInfo.environment["LA_NIGHTLY"] != nil
        // A failed sync is the hardest to undo. Nightly runs cover all other writes.
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
        "L17: A failed read, once or permanently, never sets a keychain aside",
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

    @Test("L18: A new folder, its key and their names are durable before first use")
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
        // The key is in use from this point.
        let beside = written[key...].prefix { !$0.hasSuffix("-wal") }
        #expect(beside.contains(folder.path + "/keychain"), "\(written)")
    }

    @Test("L18: A new folder whose name was not synced is recreated by the next start")
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

    /// Expects that a keychain can store and find an item.
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

    @Test(
        "A kill during the upgrade from an earlier format loses no items",
        arguments: FormerFormat.allCases
    )
    func killedUpgrading(from format: FormerFormat) throws {
        var random = SeededGenerator()
        for _ in 0..<Self.rounds {
            let folder = try StateFolder("keychain")
            try format.put(into: folder)
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
            // Otherwise the change in progress must be complete.
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

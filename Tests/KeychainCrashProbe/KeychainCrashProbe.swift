import AuthEngine
import Glibc
import KeychainStore
import Sealing
import TestSupport

/// A process that uses a keychain under a mixed load until a test kills it.
///
/// Usage: `KeychainCrashProbe DIRECTORY SEED`. The probe reports each durable change on a line:
/// `add ID TEXT`, `replace ID NEW-ID TEXT`, `set ID TEXT`, `label ID TEXT`, `delete ID`. Before
/// each change it prints `begin` and the planned change. If the change fails, it prints `failed`.
///
/// With `remove` instead of a seed, it removes the master key's file on request.
@main
enum KeychainCrashProbe {
    static func main() {
        let words = CommandLine.arguments
        if words.count == 3, words[2] == "remove" { return removeKey(words[1]) }
        guard words.count == 3, let seed = UInt64(words[2]) else {
            say("usage: KeychainCrashProbe DIRECTORY SEED|remove")
            exit(64)
        }
        do throws(KeychainError) {
            let store = try KeychainStore.open(
                directory: CommandLine.arguments[1],
                credentials: nil
            )
            say("open")
            var load = Load(store: store, seed: seed)
            while true {
                do throws(KeychainError) { try load.step() } catch { say("failed \(error)") }
            }
        } catch {
            say("failed \(error)")
            exit(1)
        }
    }

    private static func removeKey(_ directory: String) {
        do throws(KeychainError) {
            let keychain = try IdleKeychain(directory: directory)
            guard let key = try keychain.fileKey() else { return say("failed: no key") }
            say("open")
            _ = readLine()
            try keychain.removeKeyFile(of: key)
            say("removed")
        } catch {
            say("failed \(error)")
        }
    }

    fileprivate static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(1, bytes, bytes.count)
    }
}

/// Adds, changes and deletes items in an order that the seed determines.
private struct Load {
    let store: KeychainStore
    var random: SeededGenerator
    private var ids: [String] = []
    private var number = 0
    /// Distinguishes the items of this process from the items of an earlier process.
    private let start: UInt64

    init(store: KeychainStore, seed: UInt64) {
        self.store = store
        random = SeededGenerator(seed)
        start = seed
    }

    private let caller = Caller(uid: 1000, app: nil, enrolment: nil)

    mutating func step() throws(KeychainError) {
        number += 1
        let text = "text-\(start)-\(number)"
        let choice = random.next() % 12
        if ids.isEmpty || choice < 4 {
            try add(text)
        } else if choice < 6 {
            try set(ids[Int(random.next() % UInt64(ids.count))], text)
        } else if choice < 8 {
            try label(ids[Int(random.next() % UInt64(ids.count))], text)
        } else if choice < 10 {
            try replace(ids.remove(at: Int(random.next() % UInt64(ids.count))), text)
        } else {
            try delete(ids.remove(at: Int(random.next() % UInt64(ids.count))))
        }
    }

    private mutating func add(_ text: String) throws(KeychainError) {
        KeychainCrashProbe.say("begin add \(text)")
        let id = try store(text, replacing: nil)
        KeychainCrashProbe.say("add \(id) \(text)")
    }

    private mutating func replace(_ old: String, _ text: String) throws(KeychainError) {
        KeychainCrashProbe.say("begin replace \(old) \(text)")
        let id = try store(text, replacing: old)
        KeychainCrashProbe.say("replace \(old) \(id) \(text)")
    }

    private mutating func store(
        _ text: String,
        replacing old: String?
    ) throws(KeychainError) -> String {
        let attributes = try Attributes([
            "class": .text("genp"), "svce": .text(text), "labl": .text(text),
        ])
        let id = try store.add(
            attributes,
            secret: secret(text),
            accessControl: .none,
            password: nil,
            replacing: old,
            caller: caller,
            date: 0
        )
        ids.append(id)
        return id
    }

    private func set(_ id: String, _ text: String) throws(KeychainError) {
        KeychainCrashProbe.say("begin set \(id) \(text)")
        try store.setSecret(of: id, to: secret(text), password: nil, caller: caller, date: 0)
        KeychainCrashProbe.say("set \(id) \(text)")
    }

    private func label(_ id: String, _ text: String) throws(KeychainError) {
        KeychainCrashProbe.say("begin label \(id) \(text)")
        try store.update(id, ["labl": .text(text)], caller: caller, date: 0)
        KeychainCrashProbe.say("label \(id) \(text)")
    }

    private func delete(_ id: String) throws(KeychainError) {
        KeychainCrashProbe.say("begin delete \(id)")
        guard try store.delete([id], caller: caller).count == 1 else { return }
        KeychainCrashProbe.say("delete \(id)")
    }

    /// Returns a secret long enough to reveal a torn write.
    private func secret(_ text: String) -> SecretBytes {
        SecretBytes(Array(String(repeating: text + " ", count: 300).utf8))
    }
}

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

private final class Tries: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }

    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}

/// L17, L18: An upgrade of the file never loses an item.
@Suite("Upgrades")
struct UpgradeTests {
    @Test(
        "A file whose format number was set back is refused, and opens when the number is right",
        arguments: [3, 2] as [Int64]
    )
    func setBack(rootOf format: Int64) throws {
        let folder = try StateFolder("keychain")
        let id: String
        do {
            let store = try folder.open()
            id = try store.add("a")
            // Early files of format 3 have the root of format 2.
            let code = store.root.code(store.ring, format: format)
            try KeychainStore.write(store.root.counter, code, to: store.database)
        }
        try folder.run("PRAGMA user_version = 2")
        for _ in 0..<2 { #expect(folder.refusal()?.code == .decode) }
        try folder.run("PRAGMA user_version = 3")
        let store = try folder.open()
        #expect(store.setAside == nil)
        #expect(try store.read(id) == "secret")
        let codes = [2, 3, 4].map { store.root.code(store.ring, format: $0) }
        #expect(Set(codes).count == 3)
        // Any change names the format.
        try store.add("b")
        #expect(try KeychainStore.readRoot(of: store.database, store.ring).counter == 2)
        let code = try KeychainSchema.meta("root", in: store.database)
        #expect(code?.suffix(32) == store.root.code(store.ring, format: 3)[...])
    }

    @Test(
        "An upgrade without enough space keeps all items and says the space that it needs",
        arguments: FormerFormat.allCases
    )
    func fullDisk(from format: FormerFormat) throws {
        let faults = try Faults()
        var (number, upgrades, isOpen) = (1, 0, false)
        while !isOpen {
            let folder = try StateFolder("keychain")
            try format.put(into: folder)
            faults.arm(.disk, number, lasts: true, with: ENOSPC)
            let probe = try ChildProcess(
                ["KeychainCrashProbe", folder.path, "7"],
                environment: faults.environment,
                hasStream: true
            )
            let line = try probe.line() ?? "nothing"
            probe.signal(SIGKILL)
            try probe.wait()
            faults.disarm()
            isOpen = line == "open"
            if line.contains("upgrade") {
                #expect(line.contains("All items are safe"), "\(line)")
                #expect(line.contains(" KiB of free space"), "\(line)")
                upgrades += 1
            }
            let store = try folder.open()
            #expect(store.setAside == nil && !store.isLost, "\(number): \(line)")
            #expect(try store.itemCount(of: 0) == 44, "\(number): \(line)")
            number += 3
        }
        #expect(upgrades > 2)
    }

    @Test("A failed upgrade is tried again after a pause, not by each call")
    func pause() async throws {
        for (pause, tries) in [(Duration.seconds(600), 1), (.zero, 2)] {
            let folder = try StateFolder("keychain")
            let path = folder.path
            let counted = Tries()
            let keychain = try Keychain(
                opening: { () throws(KeychainError) in
                    guard counted.next() > 1 else {
                        throw KeychainError(.notAvailable, "It is full.", isOfUpgrade: true)
                    }
                    return try KeychainStore.open(directory: path, credentials: nil)
                },
                pauseAfterUpgrade: pause
            )
            var refusals = 0
            for _ in 0..<10 {
                do { try await keychain.run { _ in } } catch { refusals += 1 }
            }
            #expect(counted.count == tries)
            #expect(refusals == (tries == 1 ? 10 : 1))
        }
    }

    @Test(
        "A start upgrades a file of an earlier format before any call",
        arguments: FormerFormat.allCases
    )
    func start(from format: FormerFormat) async throws {
        let folder = try StateFolder("keychain")
        let path = folder.path
        #expect(!KeychainStore.hasWork(in: path))
        try format.put(into: folder)
        let keychain = try Keychain(
            opening: { () throws(KeychainError) in
                try KeychainStore.open(directory: path, credentials: nil)
            },
            hasWork: { KeychainStore.hasWork(in: path) }
        )
        #expect(KeychainStore.hasWork(in: path))
        try await keychain.doFormerWork()
        await keychain.close()
        #expect(!KeychainStore.hasWork(in: path))
    }
}

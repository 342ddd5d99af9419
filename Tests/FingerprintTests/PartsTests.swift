import DBus
import FingerprintRig
import Foundation
import TestSupport
import Testing

@testable import Fingerprint
@testable import localauth_sensor_fingerprint

struct PartsTests {
    init() { EventLoop.shared.startThread() }

    @Test(
        "A label that names a finger is recognized, other labels are not",
        arguments: [
            ("Right index finger", Finger.rightIndex), ("right index", .rightIndex),
            ("LEFT_THUMB", .leftThumb), ("left-little-finger", .leftLittle), ("thumb", nil),
            ("my finger", nil), ("", nil), ("right thumb finger", nil), ("-", nil),
            (String(repeating: "right thumb ", count: 100), nil),
        ]
    )
    func labels(_ label: String, _ finger: Finger?) {
        #expect(Finger(label: label) == finger)
    }

    @Test("Every finger has libfprint's file name and a label that names it")
    func fingers() {
        #expect(Finger.allCases.map(\.fileName).joined() == "123456789a")
        #expect(Finger.allCases.allSatisfy { Finger(label: $0.label) == $0 })
        #expect(Set(Finger.preferred) == Set(Finger.allCases))
    }

    @Test(
        "Words of both signals have equal results, and unknown words are unknown",
        arguments: [
            ("verify-match", ScanStatus.Result.match), ("verify-no-match", .noMatch),
            ("enroll-stage-passed", .stagePassed), ("enroll-swipe-too-short", .swipeTooShort),
            ("verify-too-fast", .tooFast), ("verify-unknown-error", .unknown),
            ("verify-something-new", .unknown), ("", .unknown), ("match", .unknown),
            ("-match", .unknown),
        ]
    )
    func statuses(_ word: String, _ result: ScanStatus.Result) {
        #expect(ScanStatus(word, isDone: true).result == result)
    }

    @Test(
        "A scan to be repeated gives its own hint, other statuses give none",
        arguments: [
            ("verify-retry-scan", "liftAndRetry"), ("verify-remove-and-retry", "liftAndRetry"),
            ("verify-swipe-too-short", "swipeTooShort"), ("verify-too-fast", "tooFast"),
            ("verify-finger-not-centered", "center"), ("verify-no-match", nil),
            ("verify-something-new", nil),
        ]
    )
    func hints(_ word: String, _ hint: String?) {
        // Compare the name, because these tests do not import the hint's module.
        #expect(ScanStatus(word, isDone: false).hint.map { "\($0)" } == hint)
    }

    @Test("The hash is 128-bit FNV-1a")
    func hash() {
        var hash = FNV1a()
        #expect(hash.text == "6c62272e07bb014262b821756295c58d")
        hash.add(Array("foobar".utf8))
        #expect(hash.text == "343e1662793c64bf6f0d3597ba446f18")
    }

    @Test("Account names that could leave a folder are refused")
    func names() {
        for name in ["", ".", "..", "a/b", "../x", "a b", "a\nb", ".hidden"] {
            #expect(!Account.isSafe(name), "\(name)")
        }
        for name in ["alice", "a.b", "user@example.org", "żółw"] {
            #expect(Account.isSafe(name), "\(name)")
        }
    }

    @Test(
        "An id changes only with the content, time and number of the prints"
    )
    func identifiers() throws {
        try withFolder { folder in
            for path in ["/alice", "/alice/driver", "/alice/driver/0"] {
                mkdir(folder + path, 0o700)
            }
            let store = PrintStore(folder: folder)
            let file = folder + "/alice/driver/0/7"
            let identify = {
                let prints = try #require(store.prints(of: "alice"))
                return store.identifier(of: prints, user: "alice")
            }
            #expect(try identify() == nil)
            #expect(store.prints(of: "nobody") == [])
            #expect(store.prints(of: "../alice") == nil)
            try write("one", to: file)
            let first = try identify()
            #expect(first?.count == 32)
            #expect(try identify() == first)
            chmod(file, 0o600)
            #expect(try identify() == first)
            var times = [timespec(), timespec(tv_sec: 1, tv_nsec: 2)]
            utimensat(AT_FDCWD, file, &times, 0)
            let second = try identify()
            #expect(second != first)
            try write("two", to: file)
            utimensat(AT_FDCWD, file, &times, 0)
            let third = try identify()
            #expect(third != second, "the same time, another content")
            try write("two", to: folder + "/alice/driver/0/1")
            #expect(try identify() != third)
            unlink(folder + "/alice/driver/0/1")
            unlink(file)
            symlink("/etc/passwd", file)
            #expect(try identify() == nil, "what a link points at is no print")
        }
    }

    @Test("Labels survive, and a damaged file loses only its damaged lines")
    func labelFile() throws {
        try withFolder { folder in
            var labels = try LabelFile(folder: folder + "/made/when/needed")
            let kept = [
                labels.set("a\tb\\\n", of: "id", uid: 1, sensor: "S", keeping: []),
                labels.set("two", of: "other", uid: 1, sensor: "S", keeping: ["id"]),
            ]
            #expect(kept == [true, true])
            let again = try LabelFile(folder: folder + "/made/when/needed")
            #expect(again.label(of: "id", uid: 1, sensor: "S") == "a\tb\\\n")
            #expect(again.identifiers(uid: 1, sensor: "S") == ["id", "other"])
            #expect(again.label(of: "id", uid: 2, sensor: "S") == nil)
            _ = labels.set("three", of: "third", uid: 1, sensor: "S", keeping: ["other"])
            #expect(labels.identifiers(uid: 1, sensor: "S") == ["other", "third"])
            try write(
                "x\tS\tid\tlabel\n\n1\tS\tid\n1\tS\tid\tkept\n1\tS\tid\tlabel\tmore\n\u{fffd}\\",
                to: folder + "/fingerprint-labels"
            )
            let damaged = try LabelFile(folder: folder)
            #expect(damaged.label(of: "id", uid: 1, sensor: "S") == "kept")
            var lost = try LabelFile(folder: "/proc/nowhere")
            let isKept = lost.set("one", of: "id", uid: 1, sensor: "S", keeping: [])
            #expect(!isKept)
        }
    }

    @Test("An id is stable when the print's file appears or disappears, and changes with the print")
    func knownPrints() throws {
        try withFolder { folder in
            var known = try KnownPrints(folder: folder)
            func ask(_ print: String?, _ modified: Int64, _ now: Int64) -> String {
                known.identifier(
                    of: .leftThumb,
                    uid: 1,
                    sensor: "S",
                    print: print,
                    modified: modified,
                    stamp: nil,
                    now: now
                )
            }
            /// Simulates a restart: writes the entries and reads them again.
            func reopen() throws {
                let isWritten = known.write()
                #expect(isWritten)
                known = try KnownPrints(folder: folder)
            }
            #expect(ask(nil, 0, 10) == "left-thumb")
            // The restarted process sees the file that existed all along.
            try reopen()
            #expect(ask("aa", 9, 20) == "left-thumb")
            try reopen()
            #expect(ask("aa", 9, 30) == "left-thumb")
            #expect(ask(nil, 0, 40) == "left-thumb")
            // A replaced print is another template.
            #expect(ask("bb", 9, 50) == "bb")
            known.keep(only: [.rightThumb], uid: 1, sensor: "S")
            #expect(ask(nil, 0, 60) == "left-thumb")
            // The file was written after the listing, so it may be another finger's.
            #expect(ask("cc", 61, 70) == "cc")
            known.forget(.leftThumb, uid: 1, sensor: "S")
            #expect(ask("dd", 5, 80) == "dd")
            let stamped = known.identifier(
                of: .rightThumb,
                uid: 1,
                sensor: "S",
                print: "ee",
                modified: 99,
                stamp: "right-thumb.100",
                now: 200
            )
            #expect(stamped == "right-thumb.100")
            try reopen()
            try write("x\ty\n1\tS\tno-finger\tid\t\t1\n", to: folder + "/fingerprint-ids")
            known = try KnownPrints(folder: folder)
            #expect(ask(nil, 0, 1) == "left-thumb")
        }
    }

    @Test("Prints and labels of different users are separate")
    func users() throws {
        try withFolder { folder in
            var known = try KnownPrints(folder: folder)
            func ask(_ uid: UInt32, _ print: String?) -> String {
                known.identifier(
                    of: .leftThumb,
                    uid: uid,
                    sensor: "S",
                    print: print,
                    modified: 1,
                    stamp: nil,
                    now: 2
                )
            }
            #expect(ask(1, nil) == "left-thumb")
            #expect(ask(2, "bb") == "bb")
            #expect(ask(1, nil) == "left-thumb")
            known.keep(only: [], uid: 1, sensor: "S")
            #expect(ask(2, nil) == "bb")
            known.forget(.leftThumb, uid: 1, sensor: "S")
            #expect(ask(2, nil) == "bb")

            var labels = try LabelFile(folder: folder)
            let kept = [
                labels.set("one", of: "id", uid: 1, sensor: "S", keeping: []),
                labels.set("two", of: "id", uid: 2, sensor: "S", keeping: []),
                labels.set("more", of: "other", uid: 2, sensor: "S", keeping: []),
            ]
            #expect(kept == [true, true, true])
            #expect(labels.label(of: "id", uid: 1, sensor: "S") == "one")
            #expect(labels.label(of: "other", uid: 1, sensor: "S") == nil)
            #expect(labels.identifiers(uid: 1, sensor: "S") == ["id"])
            #expect(labels.identifiers(uid: 2, sensor: "S") == ["other"])
        }
    }

    @Test("A label that ends in a carriage return stays in its own line")
    func carriageReturns() throws {
        try withFolder { folder in
            var labels = try LabelFile(folder: folder)
            let kept = [
                labels.set("evil\r", of: "id", uid: 2, sensor: "S", keeping: []),
                labels.set("mine\r\n", of: "id", uid: 1, sensor: "S", keeping: []),
            ]
            #expect(kept == [true, true])
            let path = folder + "/fingerprint-labels"
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            #expect(!bytes.contains(13))
            #expect(bytes.count { $0 == 10 } == 2)
            let again = try LabelFile(folder: folder)
            #expect(again.label(of: "id", uid: 2, sensor: "S") == "evil\r")
            #expect(again.label(of: "id", uid: 1, sensor: "S") == "mine\r\n")
            // An earlier version did not escape carriage returns.
            try write("2\tS\tid\tevil\r\n1\tS\tid\tmine\n", to: path)
            let old = try LabelFile(folder: folder)
            #expect(old.label(of: "id", uid: 2, sensor: "S") == "evil\r")
            #expect(old.label(of: "id", uid: 1, sensor: "S") == "mine")
        }
    }

    @Test("The longest file that can be written can be read")
    func longestLabelFile() throws {
        try withFolder { folder in
            let label = String(repeating: "\\\\", count: 256)
            let lines = (0..<LabelFile.mostEntries)
                .map { number in
                    let uid = 4_000_000_000 + number
                    return
                        "\(uid)\tFingerprint16\tright-middle-finger.1790000000000000000\t\(label)\n"
                }
            try write(lines.joined(), to: folder + "/fingerprint-labels")
            let labels = try LabelFile(folder: folder)
            let ids = labels.identifiers(uid: 4_000_000_000, sensor: "Fingerprint16")
            #expect(ids.count == 1)
            let last = UInt32(4_000_000_000 + LabelFile.mostEntries - 1)
            #expect(labels.identifiers(uid: last, sensor: "Fingerprint16").count == 1)
        }
    }

    @Test("A reader keeps its number, and a new reader gets a free number")
    func readers() throws {
        try withFolder { folder in
            func key(_ name: String, _ ordinal: Int = 0) -> FprintReader.Key {
                FprintReader.Key(name: name, ordinal: ordinal)
            }
            var readers = try KnownReaders(folder: folder)
            #expect(readers.number(of: key("dock"), among: []) == 1)
            #expect(readers.number(of: key("lid"), among: []) == 2)
            #expect(readers.number(of: key("lid", 1), among: []) == 3)
            #expect(readers.write())
            var again = try KnownReaders(folder: folder)
            #expect(again == readers)
            #expect(again.number(of: key("lid"), among: []) == 2)
            #expect(again.number(of: key("new"), among: []) == 4)
            // Only an absent reader gives its number to another reader.
            #expect(again.number(of: key("late"), among: [key("dock"), key("late")]) == 2)
            #expect(again.number(of: key("dock"), among: []) == 1)
            let there = [key("dock"), key("late"), key("lid", 1), key("new"), key("lid")]
            #expect(again.number(of: key("lid"), among: there) == nil)
            // Alone it gets number 1, because the bus starts only the first sensor.
            #expect(again.number(of: key("replaced"), among: [key("replaced")]) == 1)
            #expect(again.number(of: key("late"), among: [key("late")]) == 2)
        }
    }

    @Test("A reader with an overlong name does not make the list unreadable")
    func longNames() throws {
        try withFolder { folder in
            var readers = try KnownReaders(folder: folder)
            for (number, count) in [1024, 20_000].enumerated() {
                let key = FprintReader.Key(name: String(repeating: "n", count: count), ordinal: 0)
                #expect(readers.number(of: key, among: []) == number + 1)
            }
            #expect(readers.write())
            var again = try KnownReaders(folder: folder)
            let short = FprintReader.Key(name: String(repeating: "n", count: 1024), ordinal: 0)
            #expect(again.number(of: short, among: []) == 1)
            let other = FprintReader.Key(name: "other", ordinal: 0)
            #expect(again.number(of: other, among: []) == 2)
        }
    }

    @Test("An unreadable list is refused and not replaced")
    func unreadable() throws {
        try withFolder { folder in
            func isRefused(_ read: (String) throws -> Void) -> Bool {
                (try? read(folder)) == nil
            }
            for name in ["labels", "ids", "readers"] {
                let file = "\(folder)/fingerprint-\(name)"
                #expect(mkdir(file, 0o700) == 0)
                #expect(isRefused { _ = try LabelFile(folder: $0) } == (name == "labels"))
                #expect(isRefused { _ = try KnownPrints(folder: $0) } == (name == "ids"))
                #expect(isRefused { _ = try KnownReaders(folder: $0) } == (name == "readers"))
                #expect(rmdir(file) == 0)
            }
        }
    }

    @Test("The intact lines of a damaged list of readers are used")
    func damagedReaders() throws {
        try withFolder { folder in
            let lines = "1\t0\ta\nx\n2\t0\ta\n0\t0\tb\n5\t0\tc\n3\t-\td\n2\t0\te\n1\t0\tf\n"
            try write(lines, to: folder + "/fingerprint-readers")
            var readers = try KnownReaders(folder: folder)
            for (name, number) in [("a", 1), ("e", 2), ("b", 3), ("f", 4)] {
                let key = FprintReader.Key(name: name, ordinal: 0)
                #expect(readers.number(of: key, among: []) == number)
            }
        }
    }

    @Test("The unit hides the secrets that its capability would open")
    func unit() throws {
        let root = "\(#filePath)".split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let path = root + "/dbus/systemd/system/localauth-sensor-fingerprint.service"
        let hidden = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("InaccessiblePaths=") }
            .flatMap { $0.dropFirst("InaccessiblePaths=".count).split(separator: " ") }
        for secret in [
            "/root", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh",
            "/etc/ssl/private",
        ] {
            // The "-" lets the service start if the path does not exist.
            #expect(hidden.contains { $0 == "-" + secret }, "\(secret)")
        }
    }

    @Test("The rig works without privileges", .enabled(if: getuid() == 0))
    @BusActor func unprivileged() async throws {
        let path = ChildProcess.folder + "/fingerprint-rig"
        let program = try ChildProcess(
            ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups", path]
        )
        try await eventually("the rig: \(program.output)") { program.output.contains("READY") }
        program.signal(SIGTERM)
        #expect(try await program.exitStatus() == 0)
    }

    private func write(_ text: String, to path: String) throws {
        try TemporaryFolder.write(path, text.utf8, mode: 0o600)
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try body(folder.path)
    }
}

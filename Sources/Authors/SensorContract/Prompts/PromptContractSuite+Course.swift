import BusBench
import DBus
import Glibc

extension PromptContractSuite {
    /// Checks of a prompt's texts and of its end.
    static let courseChecks = [
        PromptCheck(
            "The prompt shows the reason and the program",
            .asking("A prompt shows the reason and the caller.")
        ) { bench in
            _ = try await bench.begin()
            let shown = try await bench.shown()
            try expect(shown.contains("open the diary"), "the reason, got \(shown)")
            let name = ownName
            try expect(shown.contains(name), "the program \(name), got \(shown)")
        },
        PromptCheck(
            "The prompt shows the claimed requester beside the program",
            .asking("Where `requester` is set, it shows that name beside the program's")
        ) { bench in
            _ = try await bench.begin([
                "requester": .string("Diary Keeper"), "requester-pid": .uint32(1),
            ])
            let shown = try await bench.shown()
            for text in ["Diary Keeper", ownName, "open the diary"] {
                try expect(shown.contains(text), "\(text), got \(shown)")
            }
        },
        PromptCheck(
            "The prompt shows progress: a miss, a hint, a wrong password, the end",
            .prompt("Update", "Reports progress while a prompt is up.")
        ) { bench in
            let handle = try await bench.beginLooking(policy: 2)
            var shown = try await bench.shown()
            let events: [(String, [String: Variant])] = [
                ("no-match", ["attempts-left": .uint32(2)]),
                ("hint", ["hint": .string("clean-sensor")]),
                ("passcode-rejected", ["attempts-left": .uint32(4)]),
            ]
            for (kind, detail) in events {
                try await bench.update(handle, kind, detail)
                let next = try await bench.shown()
                try expect(next != shown, "something new after \(kind), got \(next)")
                shown = next
            }
            try await bench.finish(handle, "lockout")
            try expect(try await bench.shown() != shown, "something new at the end")
        },
        PromptCheck(
            "The prompt shows a sensor's own instruction with the sensor's name",
            .asking("A sensor's own words, `instructions`, it shows in quotation marks")
        ) { bench in
            let words = "Hold your palm over the reader"
            let handle = try await bench.beginLooking([
                "biometry-types": .array(element: .uint32, [.uint32(1)]),
                "sensors": .strings(["AcmePalm"]),
                "sensor-types": .array(element: .uint32, [.uint32(1)]),
                "instructions": .dictionary(["AcmePalm": .texts(["en": words, "xx": "xx"])]),
            ])
            let ready: [String: Variant] = [
                "sensor": .string("AcmePalm"), "biometry-type": .uint32(1),
            ]
            try await bench.update(handle, "sensor-ready", ready)
            let shown = try await bench.shown()
            for text in [words, "AcmePalm"] {
                try expect(shown.contains(text), "\(text), got \(shown)")
            }
        },
        PromptCheck(
            "The prompt shows the length of a delay and takes no password until its end",
            .asking("`passcode-rejected` brings a `delay` in milliseconds")
        ) { bench in
            let handle = try await bench.begin()
            let wrong: [String: Variant] = ["attempts-left": .uint32(4), "delay": .uint64(59_000)]
            try await bench.update(handle, "passcode-rejected", wrong)
            let shown = try await bench.shown()
            // The prompt may count down.
            try expect(
                (30...59).contains { shown.contains("\($0)") },
                "a delay of 59 seconds, got \(shown)"
            )
            try await bench.actInVain(.type("early"))
            try await bench.update(handle, "passcode-required", ["cause": .string("delay-over")])
            try await bench.type(secret, in: handle)
        },
        PromptCheck("Each outcome ends a prompt, also an unknown outcome", .over) { bench in
            let outcomes = ["success", "failed", "canceled", "fallback", "lockout", "system"]
            for outcome in outcomes + ["postponed"] {
                let handle = try await bench.begin()
                try await bench.finish(handle, outcome)
                let before = bench.service.acts.seen.count
                if bench.fixture.act == nil {
                    // Ctrl-C would end the program on a terminal that was given back.
                    try await bench.typeAtRest("late \(outcome)\n")
                } else {
                    try await bench.act(.cancel)
                    try await bench.act(.type("late"))
                }
                let acts = bench.service.acts.seen.dropFirst(before)
                try expect(acts.isEmpty, "no call after the end, got \(Array(acts))")
            }
            let handle = try await bench.begin()
            try await bench.type(secret, in: handle)
        },
        PromptCheck("A second prompt waits for the first, or is refused", .queue) { bench in
            let first = try await bench.begin()
            guard let second = try? await bench.begin() else {
                return try await bench.type(secret, in: first)
            }
            try await bench.act(.type(secret))
            let bytes = Array(secret.utf8)
            let sent = [first, second].map { PromptAct.passcode($0, bytes) }
            let got = try await bench.service.acts.first("a password", within: bench.limit * 2) {
                sent.contains($0)
            }
            let (shown, other) = got == sent[0] ? (first, second) : (second, first)
            try await bench.finish(shown)
            try await bench.type("another", in: other)
            let acts = bench.service.acts.seen.count { sent.contains($0) }
            try expect(acts == 1, "the password once, got \(bench.service.acts.seen)")
        },
        PromptCheck("A waiting prompt can end before the prompt on the screen", .queue) { bench in
            let first = try await bench.begin()
            guard let second = try? await bench.begin() else {
                throw NotApplicable("the prompt refuses a second prompt")
            }
            try await bench.finish(second, "canceled")
            try await bench.type(secret, in: first)
            try await bench.finish(first)
            let third = try await bench.begin()
            try await bench.act(.cancel, until: .cancel(third))
        },
    ]

    /// The displayed name of a caller (L33).
    static let nameChecks = [
        PromptCheck("A sandboxed app is shown with its name, as a sandboxed app", .names) { bench in
            _ = try await bench.begin([
                "sandboxed": .bool(true), "sandbox-id": .string("org.example.Bank"),
                "app-name": .string("Bank of Trust"), "app-icon": .string("org.example.Bank"),
                "app-id": .string("org.example.Bank"),
            ])
            let shown = try await bench.shown()
            for text in ["Bank of Trust", "sandboxed app"] {
                try expect(shown.contains(text), "\(text), got \(shown)")
            }
        },
        PromptCheck("A sandboxed app without a name is shown without a program name", .names) {
            bench in
            _ = try await bench.begin(["sandboxed": .bool(true)])
            let shown = try await bench.shown()
            try expect(shown.lowercased().contains("a sandboxed app"), "these words, got \(shown)")
            let name = ownName
            try expect(!shown.contains(name), "no name of a program, got \(shown)")
        },
        PromptCheck("The prompt says if a program hides what it is", .names) { bench in
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let file = folder.path + "/bank-of-trust"
            // Copy in another process: a child started meanwhile would keep the file open for
            // writing.
            let copied = try ChildProcess.run(["/usr/bin/install", "/bin/sleep", file]).status
            try expect(copied == 0, "a program")
            let program = try ChildProcess([file, "600"])
            unlink(file)
            _ = try await bench.begin(["pid": .uint32(UInt32(program.pid))])
            let shown = try await bench.shown()
            await program.end()
            try expect(shown.contains("hides what it is"), "these words, got \(shown)")
            try expect(!shown.contains("bank-of-trust"), "no name of a program, got \(shown)")
        },
    ]

    /// The file name of this process, which is the caller in every check.
    private static var ownName: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
        return text.split(separator: "/").last.map(String.init) ?? text
    }
}

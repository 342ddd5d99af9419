/// Rules about words and constructs.
enum WordRules {
    static let notes = Rule(name: "No notes about work that is left") { file in
        let notes: Set<Substring> = ["TODO", "FIXME", "XXX", "HACK"]
        return file.comments.enumerated()
            .flatMap { index, line in
                words(of: line).filter(notes.contains).map { file.offence(index, "a note: \($0)") }
            }
    }

    static let traps = Rule.code("Nothing that ends the process on purpose") { line in
        ["fatalError(", "try!"].first { line.contains($0) }.map { "\($0) ends the process" }
    }

    static let names = Rule.code("Names of types are the words of the field") { line in
        let words = words(of: line)
        for (keyword, name) in zip(words, words.dropFirst()) where declarers.contains(keyword) {
            // ObjectManager is the bus's own name for its interface.
            let plain = name.replacing("ObjectManager", with: "")
            if let empty = ["Manager", "Helper", "Util", "Utils", "Utility", "Handler", "Impl"]
                .first(where: { holds(plain, word: $0) })
            {
                return "\(name): \(empty) says nothing"
            }
        }
        return nil
    }

    static let sleeps = Rule.code("Tests wait for what happens, not for time", in: "Tests/") {
        let sleepers: Set<Substring> = [
            "sleep", "usleep", "nanosleep", "clock_nanosleep", "asyncAfter", "sleepForTimeInterval",
        ]
        return words(of: $0).first(where: sleepers.contains).map { "\($0) waits for time" }
    }

    static let processes = Rule.code("Tests start nothing that inherits a pipe", in: "Tests/") {
        words(of: $0).contains("Process")
            ? "Foundation's Process may wait for another test's program: take ChildProcess" : nil
    }

    static let tasks = Rule(name: "A task of a service runs on the loop's thread from its start") {
        file in
        // The app decides on the executor of its client's tasks.
        let isService =
            file.path.hasPrefix("Sources/")
            && !file.path.hasPrefix("Sources/Clients/LocalAuthentication/")
        guard isService else { return [] }
        // Other tasks start on libdispatch's threads, and the units' system call filter forbids
        // setting thread priorities.
        let starts = ["Task {", "Task.detached", "async let", "withTaskGroup("]
        return file.code.enumerated()
            .flatMap { index, line in
                starts.filter { line.contains($0) }
                    .map { file.offence(index, "\($0) starts a thread: take onLoop") }
            }
    }

    static let texts = Rule(name: "What people read is in a catalogue") { file in
        let speakers = ["AgentKit", "localauth-agent", "localauth-settings", "localauthctl"]
        guard speakers.contains(file.target ?? "") else { return [] }
        // Literals passed untranslated, either first or after other literals.
        let handed =
            #/(?:(?:print|tell|setName)\(|\.text =)\s*(?:"[^"]*"[\s+]*)*"[^"]*[a-z]{2}[,:]? \w\w/#
        let text = file.lines.joined(separator: "\n")
        return text.matches(of: handed)
            .compactMap { match in
                let index = text[..<match.range.lowerBound].count { $0 == "\n" }
                return words(of: file.code[index]).isEmpty
                    ? nil : file.offence(index, "a text without localized()")
            }
    }

    static let machinePaths = Rule(name: "No paths of somebody's machine") { file in
        // Join the parts, so that this file is no offender itself.
        let paths = ["work/", "root/", "Users/", "tmp/spec", "tmp/pkg"].map { "/" + $0 }
        return file.lines.enumerated()
            .flatMap { index, line in
                paths.filter { path in begins(path, in: line) }
                    .map { file.offence(index, "a path of one machine: \($0)") }
            }
    }

    static let unsafe = Rule(name: "Unsafe code is in the edges") { file in
        guard let target = file.target else { return [] }
        let isEdge =
            [
                "DBus", "KeychainStore", "Linux", "LocalAuthentication", "SQLite", "Sealing",
                "Security",
            ]
            .contains(target)
            || file.code.compactMap(Manifest.module).contains(where: libraries.contains)
        guard !isEdge else { return [] }
        return file.code.indices.filter { isUnsafe(file.code[$0]) }
            .map { file.offence($0, "unsafe code outside the edges") }
    }

    private static let declarers: Set<Substring> = [
        "class", "struct", "enum", "actor", "protocol", "typealias",
    ]
    // A file that uses a C library is an edge.
    private static let libraries: Set<String> = [
        "CLinux", "CSystemd", "CSQLite", "CPAM", "CAdwaita", "CFace", "CFido2", "CPipeWire",
        "CV4L2",
    ]

    private static func isUnsafe(_ line: String) -> Bool {
        line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)")
            || words(of: line).contains { $0.hasPrefix("Unsafe") && $0.hasSuffix("Pointer") }
    }

    /// Whether a camel-case name contains this word.
    private static func holds(_ name: some StringProtocol, word: String) -> Bool {
        name.ranges(of: word)
            .contains { range in
                range.upperBound == name.endIndex || !name[range.upperBound].isLowercase
            }
    }

    /// Whether an absolute path starts here; `/a/work/` does not count as `/work/`.
    private static func begins(_ path: String, in line: String) -> Bool {
        line.ranges(of: path)
            .contains { range in
                guard range.lowerBound > line.startIndex else { return true }
                let before = line[line.index(before: range.lowerBound)]
                return !before.isLetter && !before.isNumber && !"._-)}".contains(before)
            }
    }
}

import Testing

/// Applies the project's rules to its own files.
struct TidyTests {
    static let rules = [
        LayoutRules.columns, LayoutRules.fileLength,
        LayoutRules.functionLength, WordRules.notes, WordRules.traps, WordRules.names,
        WordRules.sleeps, WordRules.processes, WordRules.tasks, WordRules.texts,
        WordRules.machinePaths, WordRules.unsafe,
    ]

    /// Read once, because there are many files.
    private static let files = Result { try Project.files() }

    @Test("The project is found, with sources, tests and a manifest")
    func project() throws {
        let paths = try Set(Self.files.get().map(\.path))
        #expect(paths.contains("Package.swift"))
        #expect(paths.contains("Sources/Engine/Values/Grant.swift"))
        #expect(paths.contains("Tests/TidyTests/TidyTests.swift"))
        #expect(paths.allSatisfy { !$0.contains("/.") })
    }

    @Test("The project keeps the rule", arguments: rules)
    func rule(_ rule: Rule) throws {
        report(try Self.files.get().flatMap(rule.offences))
    }

    @Test("Targets depend only on lower layers")
    func dependencies() throws {
        let manifest = try manifest()
        #expect(manifest.targets.count > 10)
        report(manifest.offences)
    }

    @Test("Sources import what their target declares and their layer allows")
    func imports() throws {
        let manifest = try manifest()
        report(try Self.files.get().flatMap(manifest.importOffences))
    }

    @Test("Targets declare no unused dependency")
    func unusedDependencies() throws {
        report(try manifest().unusedDependencies(in: Self.files.get()))
    }

    private func manifest() throws -> Manifest {
        Manifest(try #require(try Self.files.get().first { $0.path == "Package.swift" }))
    }

    private func report(_ offences: [Offence]) {
        for offence in offences {
            Issue.record("\(offence)")
        }
    }
}

import BusBench
import DBus
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of enrolment and its templates.
    static let templateChecks = [
        SensorCheck(
            "An enrolment reports its stages, then its template is listed",
            .sensor("Enroll", "Each finished stage is an `Event` of kind `stage`.")
        ) { bench in
            let id = try await bench.enroll("left thumb")
            let stages = bench.events.seen.filter { $0.kind == "stage" }
            try expect(!stages.isEmpty, "a stage before the reply")
            let done = stages.compactMap { $0.detail["stage"]?.asUInt32 }
            try expect(done == done.sorted(), "stages that grow, got \(done)")
            try expect(stages.allSatisfy { $0.detail["stages"]?.asInt32 != nil }, "stages i")
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.id) == [id], "template \(id) alone, got \(listed)")
            try expect(listed.map(\.label) == ["left thumb"], "the label, got \(listed)")
            _ = try await bench.changes.first("TemplatesChanged") { $0 == SensorBench.user }
            let others = try await bench.sensor.listTemplates(uid: SensorBench.user + 1)
            try expect(others.isEmpty, "no template of another user, got \(others)")
        },
        SensorCheck("A finger that is enrolled again gets a new id", .newData) { bench in
            let first = try await bench.enroll()
            try await bench.sensor.removeTemplate(uid: SensorBench.user, id: first)
            let second = try await bench.enroll()
            try expect(first != second, "another id than \(first)")
        },
        SensorCheck(
            "A rename keeps the id and sends no TemplatesChanged",
            .sensor("RenameTemplate", "Gives a template another label and keeps its id.")
        ) { bench in
            let id = try await bench.enroll("one")
            _ = try await bench.changes.first("TemplatesChanged") { _ in true }
            bench.changes.forget()
            try await bench.sensor.renameTemplate(uid: SensorBench.user, id: id, label: "two")
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.id) == [id] && listed.map(\.label) == ["two"], "got \(listed)")
            try expect(bench.changes.seen.isEmpty, "no TemplatesChanged")
        },
        SensorCheck(
            "A removed template is gone, and the sensor reports it",
            .sensor("TemplatesChanged", "The sensor sends it after Enroll and Remove")
        ) { bench in
            let id = try await bench.enroll()
            _ = try await bench.changes.first("TemplatesChanged") { _ in true }
            bench.changes.forget()
            try await bench.sensor.removeTemplate(uid: SensorBench.user, id: id)
            _ = try await bench.changes.first("TemplatesChanged") { $0 == SensorBench.user }
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.isEmpty, "no template, got \(listed)")
        },
        SensorCheck(
            "RemoveAllTemplates returns the number of templates",
            .sensor("RemoveAllTemplates", "returns their number")
        ) { bench in
            _ = try await bench.enroll()
            let user = SensorBench.user
            let removed = try await bench.sensor.removeAllTemplates(uid: user)
            try expect(removed == 1, "1, got \(removed)")
            let again = try await bench.sensor.removeAllTemplates(uid: user)
            try expect(again == 0, "0, got \(again)")
            try expect(try await bench.sensor.listTemplates(uid: user).isEmpty, "no template")
        },
        SensorCheck(
            "An unknown template can't be renamed or removed",
            .sensor("RemoveTemplate", "NoTemplates` for an unknown id")
        ) { bench in
            let user = SensorBench.user
            try await expectError(.sensorNoTemplates, of: "RenameTemplate") {
                try await bench.sensor.renameTemplate(uid: user, id: "nothing", label: "two")
            }
            try await expectError(.sensorNoTemplates, of: "RemoveTemplate") {
                try await bench.sensor.removeTemplate(uid: user, id: "nothing")
            }
        },
        SensorCheck(
            "The sensor learns only from a match with the option learn",
            .sensor("Learn", "for an operation of which the sensor may not learn")
        ) { bench in
            let user = SensorBench.user
            try await expectError(.invalidArgs, .unknownMethod, of: "Learn of no operation") {
                _ = try await bench.sensor.learn(operation: 4711)
            }
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            _ = try await bench.presenting(true) { try await call.answer() }
            try await expectError(.invalidArgs, .unknownMethod, of: "Learn without the option") {
                _ = try await bench.sensor.learn(operation: number)
            }
            let learned = (try? await bench.sensor.listLearned(uid: user)) ?? []
            try expect(learned.isEmpty, "no addition, got \(learned)")
            try await expectError(.sensorNoTemplates, .unknownMethod, of: "RemoveLearned") {
                try await bench.sensor.removeLearned(uid: user, id: id)
            }
            let listed = try await bench.sensor.listTemplates(uid: user).map(\.id)
            try expect(listed == [id], "the template, got \(listed)")
        },
        SensorCheck("An impossible uid and an overlong label are refused", .bounds) {
            bench in
            let id = try await bench.enroll("one")
            try await expectError(.invalidArgs, of: "Verify") {
                _ = try await bench.sensor.verify(
                    operation: bench.nextOperation(),
                    uid: .max,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            try await expectError(.invalidArgs, of: "ListTemplates") {
                _ = try await bench.sensor.listTemplates(uid: .max)
            }
            let label = String(repeating: "x", count: 257)
            try await expectError(.invalidArgs, of: "Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    label: label,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            try await expectError(.invalidArgs, of: "RenameTemplate") {
                try await bench.sensor.renameTemplate(
                    uid: SensorBench.user,
                    id: id,
                    label: label
                )
            }
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.label) == ["one"], "the unchanged label, got \(listed)")
        },
    ]
}

import BusBench
import DBus
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of a sensor's public properties.
    static let faceChecks = [
        SensorCheck(
            "Properties answer every caller and are in range",
            .sensor("Properties, Introspect and Peer answer every caller.")
        ) { bench in
            let neighbour = try bench.bus.connect()
            let sensor = SensorBench.proxy(neighbour, bench.owner)
            try expect(try await sensor.protocolVersions().contains(1), "protocol version 1")
            try expect(try await !sensor.description().isEmpty, "a description")
            let type = try await sensor.biometryType()
            try expect(BiometryType(rawValue: type) != nil, "a biometry type, got \(type)")
            let strength = try await sensor.strength()
            try expect(Strength(rawValue: strength) != nil, "strength: \(strength)")
            let reason = try await sensor.unavailability()
            try expect(
                reason.isEmpty || Unavailability(rawValue: reason) != nil,
                "a known unavailability, got \(reason)"
            )
            try expect(try await sensor.enrollStages() >= -1, "a number of stages, or -1")
            let all = try await neighbour.properties(
                of: "org.localauth.Sensor1",
                at: path,
                on: bench.owner
            )
            let others = Set(all.keys).symmetricDifference(propertyNames)
            try expect(
                others.isSubset(of: ["BuiltIn", "Instructions"]),
                "eight properties, got \(all.keys.sorted())"
            )
            if let texts = all["Instructions"] {
                try expect(isInstructions(texts), "Instructions a{ss} of at most 80 characters")
            }
        },
        SensorCheck(
            "Introspect and Ping answer every caller, on the sensor's object",
            .sensor("Properties, Introspect and Peer answer every caller.")
        ) { bench in
            let neighbour = try bench.bus.connect()
            let introspection = try await neighbour.call(
                to: bench.owner,
                path: path,
                interface: "org.freedesktop.DBus.Introspectable",
                member: "Introspect",
                signature: "",
                timeout: nil,
                { _ in }
            )
            let text = try introspection.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            for member in [
                "Verify", "Enroll", "Cancel", "ListTemplates", "RenameTemplate", "RemoveTemplate",
                "RemoveAllTemplates", "Health", "Event", "TemplatesChanged",
            ] {
                try expect(text.contains("name=\"\(member)\""), "\(member) in \(text)")
            }
            _ = try await neighbour.call(
                to: bench.owner,
                path: path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                signature: "",
                timeout: nil,
                { _ in }
            )
        },
        SensorCheck(
            "Health answers within a second, also while an operation runs",
            .sensor("Health", "Returns the sensor's health, within 1 s, also during an operation.")
        ) { bench in
            _ = try await bench.enroll()
            let (number, call) = try await bench.verify()
            let limit = bench.fixture.promptness
            let state = try await bench.sensor.health(timeout: limit).state
            try expect(HealthState(rawValue: state) != nil, "a state, got \(state)")
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
        },
    ]

    private static func isInstructions(_ value: Variant) -> Bool {
        guard case .entries(let key, let text, let entries) = value else { return false }
        return key.rawValue == "s" && text.rawValue == "s"
            && entries.allSatisfy { 1...80 ~= ($0.value.asString ?? "").count }
    }

    private static let propertyNames: Set = [
        "BiometryType", "Description", "EnrollStages", "MaxTemplates", "Present",
        "ProtocolVersions", "Strength", "Unavailability",
    ]

    /// Checks of callers' rights.
    static let callerChecks = [
        SensorCheck("Methods refuse every caller but the owner of the daemon's name", .notOwner) {
            bench in
            let neighbour = SensorBench.proxy(try bench.bus.connect(), bench.owner)
            try await expectAccessDenied(neighbour, within: bench.fixture.patience)
            try expect(
                try await bench.sensor.listTemplates(uid: SensorBench.user).isEmpty,
                "no template"
            )
        },
        SensorCheck("Without a daemon methods refuse every caller", .notOwner) { bench in
            bench.daemon.releaseName(SensorBench.daemonName)
            _ = try await bench.bus.waitForOwner(of: SensorBench.daemonName, false)
            try await expectAccessDenied(bench.sensor, within: bench.fixture.patience)
        },
        SensorCheck(
            "Events go to the caller alone",
            .sensor("Event", "Progress of an operation, sent to its caller only.")
        ) { bench in
            let neighbour = try bench.bus.connect()
            let overheard = EventRecorder<String>()
            _ = neighbour.subscribe(
                sender: bench.owner,
                path: nil,
                interface: "org.localauth.Sensor1",
                member: nil,
                broadcast: true
            ) { overheard.record($0.member ?? "") }
            _ = try await SensorBench.proxy(neighbour, bench.owner).strength()
            let number = bench.nextOperation()
            let call = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await bench.presenting(true) { try await call.answer() }
            _ = try await bench.event("ready", of: number)
            // Signals sent to the neighbour arrive before this reply.
            _ = try await SensorBench.proxy(neighbour, bench.owner).strength()
            try expect(!overheard.seen.contains("Event"), "no Event, got \(overheard.seen)")
            try expect(overheard.seen.contains("TemplatesChanged"), "TemplatesChanged")
        },
        SensorCheck(
            "An operation ends when its caller leaves the bus",
            .sensor("An operation ends when its caller leaves the bus.")
        ) { bench in
            _ = try await bench.enroll()
            _ = try await bench.verify()
            try await bench.replaceDaemon()
            let clock = ContinuousClock()
            let limit = bench.fixture.patience
            let end = clock.now + limit
            while clock.now < end {
                let number = bench.nextOperation() + 1000
                let call = try bench.sensor.verifyStream(
                    operation: number,
                    uid: SensorBench.user,
                    options: [:]
                )
                _ = try? await bench.sensor.cancel(operation: number)
                do throws(DBusError) {
                    _ = try await call.answer()
                } catch {
                    if error.name == .sensorCanceled { return }
                    try expect(error.name == .sensorBusy, "Canceled, got \(error)")
                }
                await pause(.milliseconds(20))
            }
            throw TestFailure("expected the operation to end within \(limit) of its caller")
        },
        SensorCheck(
            "A new daemon is served at once, also if the signal of its start is lost",
            .sensor("An operation ends when its caller leaves the bus.")
        ) { bench in
            _ = try await bench.enroll()
            _ = try await bench.verify()
            try await bench.bus.lose(.nameOwnerChanged)
            try await bench.replaceDaemon()
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
        },
        SensorCheck(
            "A daemon that lost its name is refused, also if that signal is lost",
            .notOwner
        ) { bench in
            try await bench.bus.lose(.nameOwnerChanged)
            bench.daemon.releaseName(SensorBench.daemonName)
            _ = try await bench.daemon.nameOwner(SensorBench.daemonName)
            // A sensor may cache the name's owner for a second.
            await pause(.milliseconds(1100))
            try await expectAccessDenied(bench.sensor, within: bench.fixture.patience)
        },
    ]

    static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    @BusActor private static func expectAccessDenied(
        _ sensor: Sensor1Proxy,
        within limit: Duration
    ) async throws {
        let user = SensorBench.user
        let calls: [(String, @BusActor () async throws -> Void)] = [
            (
                "Verify",
                {
                    _ = try await sensor.verify(
                        operation: 1,
                        uid: user,
                        options: [:],
                        timeout: limit
                    )
                }
            ),
            (
                "Enroll",
                {
                    _ = try await sensor.enroll(
                        operation: 1,
                        uid: user,
                        label: "one",
                        options: [:],
                        timeout: limit
                    )
                }
            ),
            ("Cancel", { try await sensor.cancel(operation: 1) }),
            ("ListTemplates", { _ = try await sensor.listTemplates(uid: user) }),
            ("RenameTemplate", { try await sensor.renameTemplate(uid: user, id: "a", label: "b") }),
            ("RemoveTemplate", { try await sensor.removeTemplate(uid: user, id: "a") }),
            ("RemoveAllTemplates", { _ = try await sensor.removeAllTemplates(uid: user) }),
            ("Health", { _ = try await sensor.health() }),
        ]
        for (name, call) in calls { try await expectError(.accessDenied, of: name, call) }
        // These members are optional.
        let optional: [(String, @BusActor () async throws -> Void)] = [
            ("Learn", { _ = try await sensor.learn(operation: 1) }),
            ("ListLearned", { _ = try await sensor.listLearned(uid: user) }),
            ("RemoveLearned", { try await sensor.removeLearned(uid: user, id: "a") }),
        ]
        for (name, call) in optional {
            try await expectError(.accessDenied, .unknownMethod, of: name, call)
        }
    }
}

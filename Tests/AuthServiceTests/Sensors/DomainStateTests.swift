import DBus
import LocalAuthBus
import TestSupport
import Testing

@Suite("Domain state", .timeLimit(.minutes(10)))
struct DomainStateTests {
    @Test("R41, L12: the state has 32 bytes without CanEvaluate, equal for all apps, or is empty")
    func bytes() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            #expect(try await bench.state(bench.context()).isEmpty)
            _ = sensor.add(for: bench.uid)
            // Two apps of one user.
            let first = try await bench.context()
            let second = try await bench.context(on: try bench.bus.connect())
            let state = try await bench.state(first)
            #expect(state.count == 32)
            #expect(try await bench.state(second) == state)
            #expect(try await first.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.canEvaluateCode(first) == 0)
            #expect(try await first.evaluatedPolicyDomainState() == state)
            try await first.invalidate()
            #expect(try await bench.state(first).isEmpty)
        }
    }

    @Test("L16: a client that leaves during a query for its state does not crash the daemon")
    func leaving() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            let leaver = try bench.bus.connect()
            let name = leaver.uniqueName
            let context = try await bench.context(on: leaver)
            let asked = sensor.count(of: "ListTemplates")
            sensor.isSilent = true
            sensor.signals.templatesChanged(uid: bench.uid)
            await bench.heard()
            onLoop { _ = try? await context.canEvaluate(policy: 1) }
            try await eventually("the sensor to be asked") {
                sensor.count(of: "ListTemplates") > asked
            }
            leaver.close()
            try await eventually("the client to be gone") {
                try await bench.client.nameOwner(name) == nil
            }
            sensor.speak()
            // The sensor's timeout may or may not have passed.
            try await eventually("biometry") {
                try await bench.canEvaluateCode(bench.context()) == 0
            }
        }
    }

    @Test("R40, L12: every unannounced change changes the state, even add then remove")
    func changes() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            let context = try await bench.context()
            let changes = EventRecorder<[UInt8]>()
            let evaluated = EventRecorder<Variant>()
            _ = context.onPropertiesChanged { values, _ in
                let state = values["DomainState"]?.asDictionary?["biometry"]?.asBytes
                if let state { changes.record(state) }
                if let state = values["EvaluatedPolicyDomainState"] { evaluated.record(state) }
            }
            var seen: Set<[UInt8]> = [try await bench.state(context)]
            let id = sensor.add(for: bench.uid)
            #expect(try await bench.canEvaluateCode(context) == 0)
            #expect(seen.insert(try await context.evaluatedPolicyDomainState()).inserted)
            let second = sensor.add(for: bench.uid)
            sensor.templates[bench.uid]?.removeAll { $0.id == second }
            sensor.signals.templatesChanged(uid: bench.uid)
            try await eventually("a state that was not there before") {
                seen.insert(try await bench.state(context)).inserted
            }
            sensor.templates[bench.uid]?.removeAll { $0.id == id }
            sensor.signals.templatesChanged(uid: bench.uid)
            #expect(try await bench.canEvaluateCode(context) == 0)
            #expect(seen.insert(try await bench.state(context)).inserted)
            #expect(try await bench.canEvaluateCode(context) == 0)
            #expect(try await bench.state(context) == changes.seen.last)
            #expect(evaluated.seen.last == .bytes(try await bench.state(context)))
        }
    }

    @Test("L12: a rename, an absent sensor and a restart do not change the state")
    func constant() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let id = sensor.add(for: bench.uid)
            let context = try await bench.context()
            let state = try await bench.state(context)
            #expect(state.count == 32)
            try await bench.device().renameTemplate(id: id, label: "other", options: [:])
            #expect(try await bench.canEvaluateCode(context) == 0)
            #expect(try await bench.state(context) == state)
            sensor.isPresent = false
            sensor.changed("Present")
            try await bench.waitForDevice(is: "no-hardware")
            #expect(try await bench.canEvaluateCode(context) == -13)
            #expect(try await bench.state(context) == state)
            sensor.connection.close()
            try await bench.waitForNoDevice()
            #expect(try await bench.state(context) == state)
            try await bench.restartDaemon()
            #expect(try await bench.state(bench.context()) == state)
            #expect(try await bench.canEvaluate().code == -13)
            let again = try await bench.sensor { $0.templates = sensor.templates }
            #expect(try await bench.canEvaluate().code == 0)
            #expect(try await bench.state(bench.context()) == state)
            #expect(again.count(of: "ListTemplates") > 0)
        }
    }

    @Test("R40: Evaluate clears the state, biometry sets it, password and lockout do not")
    func conditions() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let template = sensor.add(for: person.peer.uid)
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            #expect(try await bench.canEvaluateCode(context, 2) == 0)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)

            let byFinger = try context.evaluateStream(policy: 2, reason: "test", options: [:])
            try await sensor.operation().succeed(template)
            #expect(try await byFinger.reply()["domain-state"] == .bytes(state))
            #expect(try await context.evaluatedPolicyDomainState() == state)

            let other = try await bench.context(on: person.connection)
            let byPasscode = try other.evaluateStream(
                policy: 2,
                reason: "test",
                options: ["sensors": .strings([])]
            )
            #expect(try await byPasscode.reply()["domain-state"] == nil)
            #expect(try await other.evaluatedPolicyDomainState().isEmpty)
            // A password also clears the state that biometry set.
            let again = try await context.evaluate(
                policy: 2,
                reason: "test",
                options: ["sensors": .strings([])]
            )
            #expect(again["mechanism"] == .string("passcode"))
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)

            #expect(try await bench.canEvaluateCode(context) == 0)
            try await bench.manager(person.connection)
                .requirePasscode(uid: person.peer.uid, cause: "test")
            #expect(try await bench.canEvaluateCode(context) == -8)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.state(context) == state)
        }
    }

    @Test("L12: a state depends only on its user's templates")
    func users() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            let context = try await bench.context()
            let state = try await bench.state(context)
            _ = sensor.add(for: bench.uid + 1)
            _ = sensor.add(for: 4_000_000_000)
            #expect(try await bench.canEvaluateCode(context) == 0)
            #expect(try await bench.state(context) == state)
            // A known user whose templates have equal ids.
            let person = try await bench.person()
            guard person.peer.uid != bench.uid else { return }
            for templates in [sensor.templates[bench.uid] ?? [], []] {
                sensor.templates[person.peer.uid] = templates
                sensor.signals.templatesChanged(uid: person.peer.uid)
                let theirs = try await bench.context(on: person.connection)
                #expect(try await bench.canEvaluateCode(theirs) == (templates.isEmpty ? -7 : 0))
                let other = try await bench.state(theirs)
                #expect(other.count == (templates.isEmpty ? 0 : 32) && other != state)
                #expect(try await bench.state(context) == state)
            }
        }
    }

    @Test("R41: pairing and removing a companion does not change the biometric state")
    func companionsBesideBiometry() async throws {
        try await ServiceBench.run { bench in
            let finger = try await bench.sensor()
            _ = finger.add(for: bench.uid)
            let key = try await bench.sensor("Key") { $0.type = 0 }
            let context = try await bench.context()
            let before = try await context.domainState()
            _ = key.add(for: bench.uid)
            #expect(try await bench.canEvaluateCode(context, 4) == 0)
            let after = try await context.domainState()
            #expect(after["biometry"] == before["biometry"])
            #expect(after["combined"] != before["combined"])
            key.templates = [:]
            key.signals.templatesChanged(uid: bench.uid)
            #expect(try await bench.canEvaluateCode(context, 4) == 0)
            #expect(try await context.domainState()["biometry"] == before["biometry"])
            _ = finger.add(for: bench.uid)
            #expect(try await bench.canEvaluateCode(context, 4) == 0)
            #expect(try await context.domainState()["biometry"] != before["biometry"])
        }
    }

    @Test("R41: a companion affects only the combined state")
    func companions() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor { $0.type = 0 }
            _ = sensor.add(for: bench.uid)
            let context = try await bench.context()
            let state = try await context.domainState()
            #expect(state["biometry"] == .bytes([]))
            #expect(state["combined"]?.asBytes?.count == 32)
            #expect(try await bench.canEvaluateCode(context, 4) == 0)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            sensor.connection.close()
            try await bench.waitForNoDevice()
            #expect(try await bench.canEvaluate().code == -6)
            #expect(try await bench.canEvaluate(3).code == -11)
            #expect(try await context.domainState() == state)
        }
    }
}

extension ServiceBench {
    func state(_ context: Context1Proxy) async throws -> [UInt8] {
        await heard()
        return try await context.domainState()["biometry"]?.asBytes ?? []
    }

    func canEvaluateCode(_ context: Context1Proxy, _ policy: UInt32 = 1) async throws -> Int32 {
        await heard()
        return try await context.canEvaluate(policy: policy).code
    }
}

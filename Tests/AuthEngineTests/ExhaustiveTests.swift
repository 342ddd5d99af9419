import Contract
import Glibc
import Testing

@testable import AuthEngine

/// A small world, in which every event can happen in every order.
private struct SmallWorld {
    var name: String
    var sensors: [SensorFact]
    /// The possible requests by evaluation number.
    ///
    /// Two numbers can run at once.
    var requests: [EvaluationID: [Request]]
    var sessions: [EvaluationID: String] = [:]
    var records: [UInt32: UserRecord] = [:]
    var hasContext = false
    var hasPasscode = true
    /// The access control of the requested item; nil for policies.
    var flags: AccessControl.Flags?
    /// The number of steps to explore at night, if not all.
    ///
    /// By day there are two fewer.
    var depth = Int.max

    var steps: Int {
        depth == .max || getenv("LA_NIGHTLY") != nil ? depth : depth - 2
    }
}

@Suite("Every state of small worlds")
struct ExhaustiveTests {
    private static let uid: UInt32 = 1000
    private static let context = ContextID(1)
    private static let agents = [
        Agent(id: AgentID(1), client: ClientID(9), uid: uid, session: "a", kind: .normal),
        Agent(id: AgentID(2), client: ClientID(9), uid: uid, session: "b", kind: .normal),
    ]

    private static var settings: Settings {
        var settings = Settings()
        settings.lockoutAttempts = 2
        settings.fingerprintAttempts = 2
        settings.faceAttempts = 1
        settings.passcodeAttempts = 2
        settings.waitingPerConnection = 1
        settings.pendingPerConnection = 2
        settings.passcodeDelays = [.seconds(1), .seconds(2)]
        settings.contextLifetime = .seconds(2)
        settings.agentPatience = .seconds(1)
        settings.longestReuse = .seconds(2)
        settings.passcodeAfter = nil
        settings.passcodeAfterWithBiometry = nil
        return settings
    }

    private static func request(
        _ number: UInt64,
        _ policy: Policy,
        _ change: (inout Request) -> Void = { _ in }
    ) -> Request {
        var request = Request(
            id: EvaluationID(number),
            client: ClientID(number),
            uid: uid,
            policy: policy
        )
        request.timeout = .seconds(2)
        change(&request)
        return request
    }

    /// Creates a use of an item with these flags.
    private static func use(
        _ flags: AccessControl.Flags,
        for operation: AccessOperation = .useItem
    ) -> Request {
        request(1, .biometrics) { request in
            guard let item = try? AccessControl(flags: flags) else { return }
            let timeout = request.timeout
            request = Request(
                id: request.id,
                client: request.client,
                context: context,
                uid: uid,
                operation: operation,
                requirement: item.requirement(for: operation)
            )
            request.timeout = timeout
        }
    }

    private static func almostDelayed() -> UserRecord {
        var record = UserRecord()
        record.wrongPasscodes = 5
        return record
    }

    private static var worlds: [SmallWorld] {
        let first = EvaluationID(1)
        let second = EvaluationID(2)
        return [
            SmallWorld(
                name: "policy 1, finger and webcam",
                sensors: [.finger, .webcam],
                requests: [
                    first: [
                        request(1, .biometrics),
                        request(1, .biometrics) { $0.offersFallback = false },
                    ]
                ]
            ),
            SmallWorld(
                name: "policy 2, finger, delays",
                sensors: [.finger],
                requests: [first: [request(1, .biometricsOrPasscode)]],
                records: [uid: almostDelayed()],
                depth: 10
            ),
            SmallWorld(
                name: "policies 3 and 4, key and webcam",
                sensors: [.key, .webcam],
                requests: [first: [request(1, .companion), request(1, .biometricsOrCompanion)]]
            ),
            SmallWorld(
                name: "a context",
                sensors: [.finger],
                requests: [
                    first: [
                        request(1, .biometrics) { $0.context = context },
                        request(1, .biometricsOrPasscode) { $0.context = context },
                    ]
                ],
                hasContext: true,
                depth: 10
            ),
            SmallWorld(
                name: "two in one session",
                sensors: [.finger],
                requests: [
                    first: [request(1, .biometrics)], second: [request(2, .biometrics)],
                ],
                hasPasscode: false,
                depth: 10
            ),
            SmallWorld(
                name: "an unlock",
                sensors: [.finger],
                requests: [
                    first: [request(1, .biometrics)],
                    second: [request(2, .biometricsOrPasscode) { $0.isUnlock = true }],
                ],
                depth: 8
            ),
            SmallWorld(
                name: "two sessions",
                sensors: [.finger],
                requests: [
                    first: [request(1, .biometrics)], second: [request(2, .biometricsOrPasscode)],
                ],
                sessions: [first: "a", second: "b"],
                depth: 8
            ),
        ] + guardedWorlds
    }

    private static var guardedWorlds: [SmallWorld] {
        let first = EvaluationID(1)
        let both: AccessControl.Flags = [.biometryCurrentSet, .applicationPassword]
        let either: AccessControl.Flags = [
            .biometryAny, .devicePasscode, .or, .applicationPassword,
        ]
        let two: AccessControl.Flags = [.biometryAny, .companion]
        return [
            SmallWorld(
                name: "biometry and the app's password, a context",
                sensors: [.finger],
                requests: [first: [use(both), use(both, for: .useKeySign)]],
                hasContext: true,
                hasPasscode: false,
                flags: both,
                depth: 10
            ),
            SmallWorld(
                name: "biometry or passcode, and the app's password",
                sensors: [.finger],
                requests: [first: [use(either)]],
                flags: either,
                depth: 9
            ),
            SmallWorld(
                name: "biometry and a companion, a context",
                sensors: [.finger, .key],
                requests: [
                    first: [use(two), request(1, .biometrics) { $0.context = context }]
                ],
                hasContext: true,
                hasPasscode: false,
                flags: two,
                depth: 9
            ),
        ]
    }

    @Test("Every event keeps every invariant in every reachable state", arguments: 0..<10)
    func explore(_ index: Int) {
        let world = ExhaustiveTests.worlds[index]
        var start = Node(
            engine: AuthEngine(settings: ExhaustiveTests.settings, records: world.records)
        )
        start.witness.lifetime = ExhaustiveTests.settings.contextLifetime
        start.witness.disk = world.records
        start.witness.stages.flags[EvaluationID(1)] = world.flags
        for agent in ExhaustiveTests.agents { start.take(.agentRegistered(agent)) }
        start.normalize()
        var nodes = [start]
        var origins: [(parent: Int, event: Event?)] = [(0, nil)]
        var depths = [0]
        var known: Set<Node> = [start]
        var transitions = 0
        var next = 0
        while next < nodes.count {
            if depths[next] < world.steps {
                for event in events(in: nodes[next], world) {
                    var node = nodes[next]
                    node.take(event)
                    transitions += 1
                    guard node.witness.complaints.isEmpty else {
                        report(node, event, next, origins, world)
                        return
                    }
                    // Most events change no state, and comparing is cheap.
                    if node == nodes[next] { continue }
                    node.normalize()
                    if known.insert(node).inserted {
                        nodes.append(node)
                        origins.append((next, event))
                        depths.append(depths[next] + 1)
                    }
                }
            }
            next += 1
        }
        print("\(world.name): \(nodes.count) states, \(transitions) transitions")
        #expect(nodes.count > 100)
    }

    private func report(
        _ node: Node,
        _ event: Event,
        _ index: Int,
        _ origins: [(parent: Int, event: Event?)],
        _ world: SmallWorld
    ) {
        var path = [event]
        var index = index
        while let earlier = origins[index].event {
            path.insert(earlier, at: 0)
            index = origins[index].parent
        }
        let steps = path.map { "  \($0)" }.joined(separator: "\n")
        Issue.record("\(world.name): \(node.witness.complaints) after\n\(steps)")
    }

    private func events(in node: Node, _ world: SmallWorld) -> [Event] {
        var events: [Event] = [.timePassed, .enrolmentChanged(uid: ExhaustiveTests.uid)]
        events.append(.passcodeRequired(uid: ExhaustiveTests.uid, cause: PasscodeCause(.remote)))
        events.append(.stopping)
        for (id, requests) in world.requests {
            if node.engine.evaluations[id] == nil {
                // The service never reuses a number.
                let isAsked = node.engine.attempts.values.contains { $0.evaluation == id }
                if !isAsked { events += requests.map(Event.requested) }
                events.append(.clientGone(ClientID(id.rawValue)))
            }
            events += self.events(of: id, in: node, world)
        }
        let running = node.engine.evaluations.values.flatMap(\.operations)
        let attempts = running.map { ($0.id, $0.attempts + 1) }
        for (operation, attempt) in attempts + [(OperationID(rawValue: 999), 1)] {
            events += [
                .sensorReady(operation), .sensorBusy(operation, by: ""),
                .sensorMissed(operation, attempt: attempt),
                .sensorEnded(operation),
                .sensorMatched(operation, template: "t"),
            ]
        }
        for agent in ExhaustiveTests.agents where agent.session == "a" {
            let isThere = node.engine.agents.contains(agent)
            events.append(isThere ? .agentGone(agent.id) : .agentRegistered(agent))
        }
        if world.hasContext {
            events += [.invalidated(ExhaustiveTests.context), .released(ExhaustiveTests.context)]
        }
        if let oldest = node.engine.saves.keys.min(by: { $0.rawValue < $1.rawValue }) {
            events += [.saved(oldest), .saveFailed(oldest)]
        }
        return events
    }

    private func events(of id: EvaluationID, in node: Node, _ world: SmallWorld) -> [Event] {
        var facts = Facts(
            sensors: world.sensors,
            passcode: .set,
            session: world.sessions[id] ?? "a"
        )
        let found = facts
        facts.session = nil
        var events: [Event] = [
            .lookedUp(id, found), .lookedUp(id, facts), .lookUpFailed(id), .promptBegan(id),
            .promptFailed(id), .canceled(id), .fellBack(id), .confirmed(id),
            .revalidationFailed(id, .templateRemoved),
            .oneShotsInvalidated(ClientID(id.rawValue)), .clientGone(ClientID(id.rawValue)),
        ]
        if world.hasPasscode {
            events += [
                .passcodeOffered(id), .passcodeVerified(id, .correct),
                .passcodeVerified(id, .wrong), .passcodeVerified(id, .failed),
                .passcodeVerified(id, .lost),
            ]
        }
        if world.flags?.contains(.applicationPassword) == true {
            events += [
                .passwordOffered(id), .passwordTried(id, .correct), .passwordTried(id, .wrong),
                .passwordTried(id, .failed),
            ]
        }
        return events
    }
}

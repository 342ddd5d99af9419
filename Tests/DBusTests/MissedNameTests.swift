import TestSupport
import Testing

@testable import DBus

/// Recovery from name signals that a bus with full queues drops.
@Suite("Lost signals about names", .runningLoop, .timeLimit(.minutes(10)))
struct MissedNameTests {
    private static let name = "org.example.Sensor1.Face"

    @Test("L20: after a lost signal, a catch-up ends an absent peer and its work")
    @BusActor
    func leaving() async throws {
        try await PrivateBus.run { bus in
            let (service, guest, other) = (try bus.connect(), try bus.connect(), try bus.connect())
            let peer = try await service.peer(named: guest.uniqueName)
            let stays = try await service.peer(named: other.uniqueName)
            let left = EventRecorder<Bool>()
            _ = peer.onLeave { left.record(true) }
            try await bus.lose(.nameOwnerChanged)
            guest.close()
            try await eventually("the bus to know") {
                try await other.nameOwner(guest.uniqueName) == nil
            }
            // All earlier messages of the bus precede this answer.
            _ = try await service.nameOwner(Self.name)
            #expect(!peer.hasLeft)
            await service.refreshNames()
            #expect(peer.hasLeft && !stays.hasLeft && left.seen == [true])
            #expect(service.directory.peers[guest.uniqueName] == nil)
        }
    }

    @Test("L20: after a lost signal, a catch-up reports new, changed and lost owners")
    @BusActor
    func watching() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            let exact = EventRecorder<String?>()
            let all = EventRecorder<String?>()
            let watches = [
                service.watchName(Self.name) { exact.record($0) },
                service.watchNames(under: "org.example.Sensor1") { _, owner in all.record(owner) },
            ]
            _ = try await exact.first("the first answer") { _ in true }
            _ = try await service.nameOwner(Self.name)
            try await bus.lose(.nameOwnerChanged)
            let (first, second) = (try bus.connect(), try bus.connect())
            try first.requestName(Self.name)
            await service.refreshNames()
            first.releaseName(Self.name)
            _ = try await first.nameOwner(Self.name)
            try second.requestName(Self.name)
            await service.refreshNames()
            await service.refreshNames()
            second.close()
            try await eventually("the bus to know") {
                try await first.nameOwner(Self.name) == nil
            }
            await service.refreshNames()
            #expect(exact.seen == [nil, first.uniqueName, second.uniqueName, nil])
            #expect(all.seen == [first.uniqueName, second.uniqueName, nil])
            for watch in watches { watch.cancel() }
        }
    }

    @Test("L20: the owner of a watched name is asked for again if the answer gets lost")
    @BusActor
    func lostAnswer() async throws {
        try await PrivateBus.run { bus in
            let (service, owner) = (try bus.connect(), try bus.connect())
            try owner.requestName(Self.name)
            let told = EventRecorder<String?>()
            let exact = service.watchName(Self.name) { told.record($0) }
            // As if the answer had timed out.
            for call in service.outgoing.pending.values { call.cancel() }
            #expect(try await told.first("an answer") { _ in true } == owner.uniqueName)
            exact.cancel()
            // Without a bus the owner is unknown, and the watch reports nil.
            service.close()
            _ = service.watchName(Self.name) { told.record($0) }
            _ = try await told.first("no owner") { $0 == nil }
        }
    }

    @Test("L20: an error of the bus about a called peer proves that the peer left")
    @BusActor
    func calling() async throws {
        try await PrivateBus.run { bus in
            let (service, guest) = (try bus.connect(), try bus.connect())
            let other = try bus.connect()
            let peer = try await service.peer(named: guest.uniqueName)
            try await bus.lose(.nameOwnerChanged)
            guest.close()
            // The bus may read the call before it notices the end, so wait until it does.
            try await eventually("the bus to know") {
                try await other.nameOwner(guest.uniqueName) == nil
            }
            let error = await #expect(throws: DBusError.self) {
                _ = try await service.call(
                    to: guest.uniqueName,
                    path: .bus,
                    interface: "org.example.Any",
                    member: "Thing"
                )
            }
            #expect(error?.name == .serviceUnknown)
            #expect(peer.hasLeft)
        }
    }

    @Test("L20: unanswered calls to an absent peer end when its absence is found out")
    @BusActor
    func unanswered() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            // Raw clients never answer.
            let (guest, other) = (try RawClient(bus.address), try RawClient(bus.address))
            let calls = try [guest, guest, other]
                .map { destination in
                    try service.startCall(
                        to: destination.name,
                        path: .bus,
                        interface: "org.example.Any",
                        member: "Thing",
                        timeout: Connection.noTimeout
                    )
                }
            service.nameVanished(guest.name)
            try await eventually("the calls to end") { calls[0].isOver && calls[1].isOver }
            #expect(!calls[2].isOver)
            let error = await #expect(throws: DBusError.self) { _ = try await calls[0].reply() }
            #expect(error?.name == .noReply)
        }
    }

    @Test("Concurrent queries for the owner of a name share an answer")
    @BusActor
    func sharing() async throws {
        try await PrivateBus.run { bus in
            let (service, owner) = (try bus.connect(), try bus.connect())
            try owner.requestName(Self.name)
            let before = service.outgoing.pending.count
            let answer = EventRecorder<String?>()
            let task = onLoop { answer.record(try? await service.nameOwner(Self.name)) }
            let question = try service.askWhoOwns(Self.name)
            let other = try service.askWhoOwns("org.example.Other")
            #expect(try service.askWhoOwns(Self.name) === question && other !== question)
            #expect(service.outgoing.pending.count == before + 2)
            // A canceled task must not cancel the shared query.
            task.cancel()
            #expect(try await answer.first("the answer") { _ in true } == owner.uniqueName)
            #expect(try await service.nameOwner(Self.name) == owner.uniqueName)
        }
    }

    @Test("L20: a query sent before a message does not answer callers after the message")
    @BusActor
    func newQuestion() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            let asked = EventRecorder<Bool>()
            var first: PendingCall?
            let source = service.subscribe(
                sender: service.uniqueName,
                path: .bus,
                interface: "org.example.Any",
                member: "Thing",
                broadcast: false
            ) { _ in
                let second = try? service.askWhoOwns(Self.name)
                // The pending query may be answered with a state from before the message.
                asked.record(first?.isOver == false && second != nil && second !== first)
            }
            // The bus delivers this signal before its answer.
            service.emit(
                path: .bus,
                interface: "org.example.Any",
                member: "Thing",
                to: service.uniqueName
            )
            first = try service.askWhoOwns(Self.name)
            #expect(try await asked.first("the signal") { _ in true })
            source.cancel()
        }
    }
}

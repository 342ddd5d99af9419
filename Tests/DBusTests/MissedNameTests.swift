import TestSupport
import Testing

@testable import DBus

/// What a bus with full queues doesn't say of names is found out by who asks.
@Suite("Signals about names that get lost", .runningLoop, .timeLimit(.minutes(10)))
struct MissedNameTests {
    private static let name = "org.example.Sensor1.Face"

    @Test("L20: who left unheard leaves when the bus is asked, and what runs for it ends")
    @BusActor
    func leaving() async throws {
        try await PrivateBus.run { bus in
            let (service, guest, other) = (try bus.connect(), try bus.connect(), try bus.connect())
            let peer = try await service.peer(named: guest.uniqueName)
            let stays = try await service.peer(named: other.uniqueName)
            let left = Witness<Bool>()
            _ = peer.onLeave { left.record(true) }
            try await bus.lose(.nameOwnerChanged)
            guest.close()
            try await eventually("the bus to know") {
                try await other.nameOwner(guest.uniqueName) == nil
            }
            // All that the bus has to say has come before this answer.
            _ = try await service.nameOwner(Self.name)
            #expect(!peer.hasLeft)
            await service.catchUpWithNames()
            #expect(peer.hasLeft && !stays.hasLeft && left.seen == [true])
            #expect(service.directory.peers[guest.uniqueName] == nil)
        }
    }

    @Test("L20: an owner that came, changed or went unheard is told when the bus is asked")
    @BusActor
    func watching() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            let exact = Witness<String?>()
            let all = Witness<String?>()
            let watches = [
                service.watchName(Self.name) { exact.record($0) },
                service.watchNames(under: "org.example.Sensor1") { _, owner in all.record(owner) },
            ]
            _ = try await exact.first("the first answer") { _ in true }
            _ = try await service.nameOwner(Self.name)
            try await bus.lose(.nameOwnerChanged)
            let (first, second) = (try bus.connect(), try bus.connect())
            try first.requestName(Self.name)
            await service.catchUpWithNames()
            first.releaseName(Self.name)
            _ = try await first.nameOwner(Self.name)
            try second.requestName(Self.name)
            await service.catchUpWithNames()
            await service.catchUpWithNames()
            second.close()
            try await eventually("the bus to know") {
                try await first.nameOwner(Self.name) == nil
            }
            await service.catchUpWithNames()
            #expect(exact.seen == [nil, first.uniqueName, second.uniqueName, nil])
            #expect(all.seen == [first.uniqueName, second.uniqueName, nil])
            for watch in watches { watch.cancel() }
        }
    }

    @Test("L20: who owns a watched name is asked again when the answer of the bus gets lost")
    @BusActor
    func lostAnswer() async throws {
        try await PrivateBus.run { bus in
            let (service, owner) = (try bus.connect(), try bus.connect())
            try owner.requestName(Self.name)
            let told = Witness<String?>()
            let exact = service.watchName(Self.name) { told.record($0) }
            // As if the time for its answer were over.
            for call in service.outgoing.pending.values { call.cancel() }
            #expect(try await told.first("an answer") { _ in true } == owner.uniqueName)
            exact.cancel()
            // Of who can't be asked any more nothing is known, and that is told as well.
            service.close()
            _ = service.watchName(Self.name) { told.record($0) }
            _ = try await told.first("no owner") { $0 == nil }
        }
    }

    @Test("L20: a call to who left unheard is the proof that it left")
    @BusActor
    func calling() async throws {
        try await PrivateBus.run { bus in
            let (service, guest) = (try bus.connect(), try bus.connect())
            let other = try bus.connect()
            let peer = try await service.peer(named: guest.uniqueName)
            try await bus.lose(.nameOwnerChanged)
            guest.close()
            // It may read the call first: then it delivers it to nobody.
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

    @Test("L20: what was asked of who left unheard ends when that is found out, however patient")
    @BusActor
    func unanswered() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            // They answer nothing.
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
            service.left(guest.name)
            try await eventually("the calls to end") { calls[0].isOver && calls[1].isOver }
            #expect(!calls[2].isOver)
            let error = await #expect(throws: DBusError.self) { _ = try await calls[0].reply() }
            #expect(error?.name == .noReply)
        }
    }

    @Test("Who owns a name is one question of all who ask before anything else has come")
    @BusActor
    func sharing() async throws {
        try await PrivateBus.run { bus in
            let (service, owner) = (try bus.connect(), try bus.connect())
            try owner.requestName(Self.name)
            let before = service.outgoing.pending.count
            let answer = Witness<String?>()
            let task = onLoop { answer.record(try? await service.nameOwner(Self.name)) }
            let question = try service.askWhoOwns(Self.name)
            let other = try service.askWhoOwns("org.example.Other")
            #expect(try service.askWhoOwns(Self.name) === question && other !== question)
            #expect(service.outgoing.pending.count == before + 2)
            // Whoever stops waiting takes nobody's answer away.
            task.cancel()
            #expect(try await answer.first("the answer") { _ in true } == owner.uniqueName)
            #expect(try await service.nameOwner(Self.name) == owner.uniqueName)
        }
    }

    @Test("L20: a question that was on its way when a message came answers nobody who asks later")
    @BusActor
    func newQuestion() async throws {
        try await PrivateBus.run { bus in
            let service = try bus.connect()
            let asked = Witness<Bool>()
            var first: PendingCall?
            let source = service.subscribe(
                sender: service.uniqueName,
                path: .bus,
                interface: "org.example.Any",
                member: "Thing",
                broadcast: false
            ) { _ in
                let second = try? service.askWhoOwns(Self.name)
                // The first one is not answered yet, and may be by what was before the message.
                asked.record(first?.isOver == false && second != nil && second !== first)
            }
            // The bus hands this over before it answers.
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

import Glibc
import TestSupport
import Testing

@testable import BusGuard
@testable import DBus

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct NeighbourGuardTests {
    /// A service, a greedy caller of another uid, and an honest caller.
    @BusActor
    struct Neighbours {
        let server: Connection
        let guarded: NeighbourGuard
        let service: ExampleService
        let greedy: RawClient
        let peer: Peer
        let honest: Connection
        private let busProcess: pid_t

        init(_ bus: PrivateBus) async throws {
            server = try bus.connect()
            guarded = NeighbourGuard(server)
            service = ExampleService(server)
            server.export(ExampleService.path, [service])
            greedy = try RawClient(bus.address)
            honest = try bus.connect()
            // Makes the server watch for leaving peers, and identify the honest client.
            _ = try await honest.call(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
            peer = try #require(Peer(name: greedy.name, uid: 4242, pid: 1, on: server))
            server.directory.peers[greedy.name] = peer
            busProcess = bus.pid
        }

        /// Sends calls of the greedy caller that the service leaves unanswered.
        ///
        /// A bus lets a connection wait for 128 replies.
        func flood(_ count: Int = 100, bytes: Int? = nil) throws {
            var body = RawValues()
            if let bytes {
                body.append(UInt32(bytes))
                body.append(raw: [UInt8](repeating: 0, count: bytes))
            }
            for _ in 0..<count {
                try greedy.send(
                    to: server.uniqueName,
                    path: ExampleService.path.rawValue,
                    interface: ExampleService.name,
                    member: "Hold",
                    signature: bytes == nil ? "" : "ay",
                    body: body.bytes
                )
            }
        }

        /// Sends calls of the greedy caller without a reply, which no bus limits.
        func floodUnanswered(_ count: Int) {
            for _ in 0..<count {
                _ = greedy.offer(
                    to: server.uniqueName,
                    path: ExampleService.path.rawValue,
                    interface: ExampleService.name,
                    member: "Hold",
                    wantsAnswer: false
                )
            }
        }

        /// Serves the greedy caller's calls of `Hold` before all others.
        @discardableResult
        func hold() -> EventSource {
            guarded.goesFirst(peer, calling: "Hold", of: ExampleService.name)
        }

        func stopBus() { kill(busProcess, SIGSTOP) }

        func resumeBus() { kill(busProcess, SIGCONT) }

        /// Makes a call of the service's own.
        func ask(timeout: Duration? = nil) throws(DBusError) -> PendingCall {
            try server.startCall(
                to: Connection.driver,
                path: .bus,
                interface: Connection.driver,
                member: "GetNameOwner",
                signature: "s",
                timeout: timeout
            ) { (writer) throws(DBusError) in try writer.write(honest.uniqueName) }
        }

        /// Blocks the loop until the server can read `text`.
        func waitUnserved(for text: String) {
            let wanted = Array(text.utf8)
            var bytes = [UInt8](repeating: 0, count: 1024 * 1024)
            var count = 0
            repeat {
                poll(nil, 0, 1)
                let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
                count = max(0, recv(server.descriptor, &bytes, bytes.count, flags))
            } while bytes[..<count].firstRange(of: wanted) == nil
        }
    }

    @Test("L21: a call is not late while its answer may lie behind neighbours' messages")
    @BusActor
    func lateness() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            try all.flood()
            let question = try all.ask(timeout: .zero)
            // Count in the same turn, because later turns may serve calls.
            var served: Int?
            question.onEnd { [service = all.service] _ in served = service.held.count }
            // The answer has the name in its body.
            all.waitUnserved(for: "\0" + all.honest.uniqueName + "\0")
            _ = try await question.reply()
            #expect(served == 0, "calls are served before answers are read")
        }
    }

    @Test("L21: a caller's identity is asked for again if the answer gets lost")
    @BusActor
    func lostAnswer() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let stranger = try RawClient(bus.address)
            try stranger.send(
                to: all.server.uniqueName,
                path: ExampleService.path.rawValue,
                interface: ExampleService.name,
                member: "Hold"
            )
            all.waitUnserved(for: "Hold")
            all.stopBus()
            defer { all.resumeBus() }
            try await eventually("the bus to be asked") { !all.server.outgoing.pending.isEmpty }
            for call in Array(all.server.outgoing.pending.values) {
                call.finish(.failure(DBusError(.noReply, "")))
            }
            all.resumeBus()
            try await eventually("the call to be served") { all.service.held.count == 1 }
        }
    }

    @Test("L20: a catch-up asks for names and owners at once, and again if answers get lost")
    @BusActor
    func lostNames() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let owner = EventRecorder<String?>()
            let watch = all.server.watchName("org.example.Watched") { owner.record($0) }
            defer { watch.cancel() }
            try all.honest.requestName("org.example.Watched")
            _ = try await owner.first("the owner") { $0 != nil }
            try await eventually("no question") { all.server.outgoing.pending.isEmpty }
            all.stopBus()
            defer { all.resumeBus() }
            let asking = onLoop { await all.server.refreshNames() }
            for _ in 0..<2 {
                // The list of names, and the owner of the known name.
                try await eventually("both questions") { all.server.outgoing.pending.count == 2 }
                for call in Array(all.server.outgoing.pending.values) {
                    call.finish(.failure(DBusError(.noReply, "")))
                }
            }
            all.resumeBus()
            await asking.value
        }
    }

    @Test("L21: a name's owner is asked for again if the answer gets lost")
    @BusActor
    func lostOwner() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            try all.honest.requestName("org.example.Watched")
            all.stopBus()
            defer { all.resumeBus() }
            let owner = Task.immediate { @BusActor in
                try await all.server.nameOwner("org.example.Watched")
            }
            for _ in 0..<2 {
                try await eventually("the bus to be asked") { !all.server.outgoing.pending.isEmpty }
                for call in Array(all.server.outgoing.pending.values) {
                    call.finish(.failure(DBusError(.noReply, "")))
                }
            }
            all.resumeBus()
            #expect(try await owner.value == all.honest.uniqueName)
        }
    }

    @Test("L21: calls of absent callers are dropped, except for the service's own helpers")
    @BusActor
    func departed() async throws {
        for isPart in [false, true] {
            try await PrivateBus.run { bus in
                let all = try await Neighbours(bus)
                if isPart { all.hold() }
                try all.flood()
                all.greedy.hangUp()
                all.waitUnserved(for: "NameOwnerChanged")
                try await eventually("it to have left") { all.peer.hasLeft }
                #expect(isPart ? all.service.held.count == 100 : all.service.held.count < 50)
                #expect(all.guarded.users[4242] == nil)
            }
        }
    }

    @Test("L21: only a helper's reports go first, and only so many in a row")
    @BusActor
    func parts() async throws {
        for isTold in [false, true] {
            try await PrivateBus.run { bus in
                let all = try await Neighbours(bus)
                let hold = all.hold()
                if isTold {
                    all.hold()
                } else {
                    _ = all.guarded.goesFirst(
                        all.peer,
                        calling: "Who",
                        of: ExampleService.name
                    )
                }
                hold.cancel()
                // All calls must fit into a socket.
                all.floodUnanswered(160)
                all.greedy.hangUp()
                all.waitUnserved(for: "NameOwnerChanged")
                try await eventually("it to have left") { all.peer.hasLeft }
                let count = all.service.held.count
                #expect(isTold ? 128..<150 ~= count : count < 50, "\(count)")
            }
        }
    }

    @Test("L21: the look-up of an absent peer is canceled")
    @BusActor
    func leftUnknown() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            all.stopBus()
            defer { all.resumeBus() }
            let name = ":1.4242"
            let answer = Task.immediate { @BusActor in await Self.refusal(of: name, all.server) }
            try await eventually("the bus to be asked") {
                all.server.directory.lookUps[name] != nil
            }
            let asked = try #require(all.server.directory.lookUps[name]?.questions)
            try #require(asked.count == 2)
            all.server.peerLeft(name)
            #expect(all.server.directory.lookUps[name] == nil)
            for question in asked {
                #expect(all.server.outgoing.pending[UInt64(question.serial)] == nil)
            }
            #expect(await answer.value == .nameHasNoOwner)
        }
    }

    /// Returns the error of a peer look-up, or nil.
    @BusActor
    private static func refusal(of name: String, _ server: Connection) async -> DBusError.Name? {
        do throws(DBusError) {
            _ = try await server.peer(named: name)
            return nil
        } catch {
            return error.name
        }
    }

    @Test("L21: the user charged least comes next, and idle users save nothing up")
    @BusActor
    func order() {
        func caller(of user: UserShare) -> Caller {
            let caller = Caller("")
            caller.identify(as: user)
            return caller
        }
        let users = [UserShare(), UserShare()]
        let callers = [0, 0, 1].map { caller(of: users[$0]) }
        var queue = FairQueue()
        for caller in callers { queue.add(caller) }
        var order: [Int] = []
        for _ in 0..<6 {
            guard let next = queue.next() else { break }
            order.append(callers.firstIndex { $0 === next } ?? -1)
            next.user?.charged += next === callers[2] ? 10 : 20
            queue.add(next)
        }
        #expect(order == [0, 2, 2, 1, 2, 2])
        // An idle user gets a single turn, and no missed turns.
        let late = UserShare()
        queue.add(caller(of: late))
        #expect(late.charged == 30)
        // A user charged far more waits for a while, not for long.
        let rich = UserShare()
        rich.charged = 10 * 1024 * 1024
        queue.add(caller(of: rich))
        #expect(rich.charged == 30 + 64 * 1024)
        // Break the reference cycle of waiting callers and their user.
        while queue.next() != nil {}
    }

    @Test("L31: calls beyond a user's bound are refused one by one; small calls have room")
    @BusActor
    func bound() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            // As if another connection of the user had filled its room.
            all.guarded.share(of: 4242).held = GuardLimits.heldOfUser
            try all.flood(20, bytes: 4096)
            try all.flood()
            try await eventually("the small calls") { all.service.held.count == 100 }
            var said = ""
            try await eventually("an answer to each large call") {
                said += String(decoding: all.greedy.takeSome() ?? [], as: UTF8.self)
                return said.ranges(of: "LimitsExceeded").count == 20
            }
            all.guarded.share(of: 4242).held = 0
            try all.flood(1, bytes: 4096)
            try await eventually("the large call") { all.service.held.count == 101 }
        }
    }

    @Test(
        "L31: after a burst of calls without a reply the next call is answered",
        arguments: [160, 400]
    )
    @BusActor
    func unanswered(count: Int) async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            all.floodUnanswered(count)
            let greedy = all.greedy
            try greedy.send(
                to: all.server.uniqueName,
                path: ExampleService.path.rawValue,
                interface: ExampleService.name,
                member: "Refuse"
            )
            // So few calls fit into a socket, so the service reads them in a row.
            let isWhole = count == 160
            if isWhole { all.waitUnserved(for: "Refuse") }
            _ = try await Task.detached { try greedy.receive(until: "Not today.") }.value
            #expect(!isWhole || all.service.held.count == GuardLimits.unansweredCalls)
        }
    }
}

extension NeighbourGuard {
    /// Guards waiting calls only, not served calls.
    convenience init(_ server: Connection) {
        self.init(server, quota: CallQuota(table: [:], limits: [:], bytesPerUser: .max))
    }
}

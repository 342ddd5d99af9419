import CSystemd
import Glibc
import TestSupport
import Testing

@testable import DBus

/// Users who ask for much, beside those who ask for little.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct TurnTests {
    /// A service, a greedy user of another uid than ours, and somebody honest.
    @BusActor
    struct Neighbours {
        let server: Connection
        let service: ExampleService
        let greedy: RawClient
        let peer: Peer
        let honest: Connection
        private let busProcess: pid_t

        init(_ bus: PrivateBus) async throws {
            server = try bus.connect()
            server.serveStrangers()
            service = ExampleService(server)
            server.export(ExampleService.path, [service])
            greedy = try RawClient(bus.address)
            honest = try bus.connect()
            // From here on the server hears who leaves, and knows the honest one.
            _ = try await honest.call(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
            let other = Peer(name: greedy.name, uid: 4242, pid: 1, on: server) { [server] uid in
                server.allowance(of: uid)
            }
            peer = try #require(other)
            peer.receiver?.user = peer.user
            server.peers[greedy.name] = peer
            busProcess = bus.pid
        }

        /// Sends as many calls as a bus lets wait for their answers, about; the service keeps them.
        func flood() throws {
            for _ in 0..<100 {
                try greedy.send(
                    to: server.uniqueName,
                    path: ExampleService.path.rawValue,
                    interface: ExampleService.name,
                    member: "Hold"
                )
            }
        }

        /// Has the greedy one's calls of `Hold` go first.
        @discardableResult
        func hold() -> EventSource {
            peer.goesFirst(calling: "Hold", of: ExampleService.name)
        }

        /// Sends one user two megabytes while the bus doesn't read, and one answer to another.
        func sendMuch(then body: () throws -> PendingCall) throws -> PendingCall {
            stopBus()
            defer { resumeBus() }
            let text = String(repeating: "a", count: 20_000)
            for _ in 0..<100 { tell(text, greedy.name) }
            return try body()
        }

        func stopBus() { kill(busProcess, SIGSTOP) }

        func resumeBus() { kill(busProcess, SIGCONT) }

        func tell(_ text: String, _ name: String) {
            server.emit(
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Event",
                signature: "s",
                to: name
            ) { (writer) throws(DBusError) in try writer.write(text) }
        }

        /// Calls `body` when the honest one is told that.
        func hear(_ text: String, _ body: @escaping @BusActor () -> Void) -> EventSource {
            honest.subscribe(
                sender: server.uniqueName,
                path: nil,
                interface: ExampleService.name,
                member: "Event",
                broadcast: false
            ) { message in
                let told = try? message.read("s") { (reader) throws(DBusError) in
                    try reader.read(String.self)
                }
                if told == text { body() }
            }
        }

        /// A call of the service's own.
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

        /// Serves nothing until the server has something to read.
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

    @Test("L21: what the service itself asks overtakes what others are sent")
    @BusActor
    func ownCalls() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            _ = try await all.sendMuch { try all.ask() }.reply()
            #expect(all.peer.receiver?.hasWaiting == true)
        }
    }

    @Test("L21: what one user is sent doesn't wait for what another one is sent")
    @BusActor
    func ownAnswers() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let told = Signal()
            let subscription = all.hear("short") { told.set() }
            defer { subscription.cancel() }
            _ = try all.sendMuch {
                all.tell("short", all.honest.uniqueName)
                return try all.ask()
            }
            await told.wait()
            #expect(all.peer.receiver?.hasWaiting == true)
        }
    }

    @Test("What waits for its turn at the end is on its way, however long the bus reads nothing")
    @BusActor
    func lastAnswers() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let told = Signal()
            let subscription = all.hear("last") { told.set() }
            defer { subscription.cancel() }
            all.stopBus()
            let text = String(repeating: "a", count: 20_000)
            for _ in 0..<10 { all.tell(text, all.honest.uniqueName) }
            all.tell("last", all.honest.uniqueName)
            #expect(all.server.outgoing.bytes > 0, "everything is sent at once")
            all.server.deliverAll()
            #expect(all.server.outgoing == Amount(), "something is left behind")
            all.resumeBus()
            all.server.flush()
            await told.wait()
        }
    }

    @Test("L21: a call is not late while its answer may lie behind others' messages")
    @BusActor
    func lateness() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            try all.flood()
            let question = try all.ask(timeout: .zero)
            // Seen in the same turn: until this task goes on, calls may be served.
            var served: Int?
            question.onEnd { [service = all.service] _ in served = service.held.count }
            // The answer has the name in its body.
            all.waitUnserved(for: "\0" + all.honest.uniqueName + "\0")
            _ = try await question.reply()
            #expect(served == 0, "calls are served before answers are read")
        }
    }

    @Test("L21: who a caller is, is asked again when the bus has lost its answer")
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
            try await eventually("the bus to be asked") { !all.server.pending.isEmpty }
            for call in Array(all.server.pending.values) {
                call.finish(.failure(DBusError(.noReply, "")))
            }
            all.resumeBus()
            try await eventually("the call to be served") { all.service.held.count == 1 }
        }
    }

    @Test("L20: who is there is asked for at once, and again when the bus has lost its answers")
    @BusActor
    func lostNames() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let owner = Witness<String?>()
            let watch = all.server.watchName("org.example.Watched") { owner.record($0) }
            defer { watch.cancel() }
            try all.honest.requestName("org.example.Watched")
            _ = try await owner.first("the owner") { $0 != nil }
            try await eventually("no question") { all.server.pending.isEmpty }
            all.stopBus()
            defer { all.resumeBus() }
            let asking = onLoop { await all.server.catchUpWithNames() }
            for _ in 0..<2 {
                // The list, and the owner of what is known.
                try await eventually("both questions") { all.server.pending.count == 2 }
                for call in Array(all.server.pending.values) {
                    call.finish(.failure(DBusError(.noReply, "")))
                }
            }
            all.resumeBus()
            await asking.value
        }
    }

    @Test("L21: who owns a name is asked again when the bus has lost its answer")
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
                try await eventually("the bus to be asked") { !all.server.pending.isEmpty }
                for call in Array(all.server.pending.values) {
                    call.finish(.failure(DBusError(.noReply, "")))
                }
            }
            all.resumeBus()
            #expect(try await owner.value == all.honest.uniqueName)
        }
    }

    @Test("L21: calls of who has left are dropped, but for those of a part of the service")
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
                #expect(all.peer.user.held == Amount())
            }
        }
    }

    @Test("L21: of a part of the service only what it tells goes first, and so much in a row")
    @BusActor
    func parts() async throws {
        for isTold in [false, true] {
            try await PrivateBus.run { bus in
                let all = try await Neighbours(bus)
                let hold = all.hold()
                if isTold {
                    all.hold()
                } else {
                    _ = all.peer.goesFirst(calling: "Who", of: ExampleService.name)
                }
                hold.cancel()
                // No bus bounds calls that want no answer; all have to fit into a socket.
                for _ in 0..<160 {
                    _ = all.greedy.offer(
                        to: all.server.uniqueName,
                        path: ExampleService.path.rawValue,
                        interface: ExampleService.name,
                        member: "Hold",
                        wantsAnswer: false
                    )
                }
                all.greedy.hangUp()
                all.waitUnserved(for: "NameOwnerChanged")
                try await eventually("it to have left") { all.peer.hasLeft }
                let count = all.service.held.count
                #expect(isTold ? 128..<150 ~= count : count < 50, "\(count)")
            }
        }
    }

    @Test("L21: who has left is looked up no more")
    @BusActor
    func leftUnknown() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            all.stopBus()
            defer { all.resumeBus() }
            let name = ":1.4242"
            let answer = Task.immediate { @BusActor in await Self.refusal(of: name, all.server) }
            try await eventually("the bus to be asked") { all.server.lookUps[name] != nil }
            let asked = try #require(all.server.lookUps[name]?.question)
            all.server.peerLeft(name)
            #expect(all.server.lookUps[name] == nil)
            #expect(all.server.pending[UInt64(asked.serial)] == nil)
            #expect(await answer.value == .nameHasNoOwner)
        }
    }

    /// Why a connection does not say who has a name.
    @BusActor
    private static func refusal(of name: String, _ server: Connection) async -> DBusError.Name? {
        do throws(DBusError) {
            _ = try await server.peer(named: name)
            return nil
        } catch {
            return error.name
        }
    }

    @Test("L21: calls that would find no room are left out unread, until half is served")
    @BusActor
    func leftOut() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let receiver = try #require(all.peer.receiver)
            // How many of the greedy one's calls are served, when one more has come for certain.
            let served = { @BusActor () async throws -> Int in
                let before = all.service.held.count
                try all.greedy.send(
                    to: all.server.uniqueName,
                    path: ExampleService.path.rawValue,
                    interface: ExampleService.name,
                    member: "Hold"
                )
                all.waitUnserved(for: "Hold")
                _ = try await all.honest.call(
                    to: all.server.uniqueName,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Who"
                )
                try await eventually("all to be served") { all.server.turns.isEmpty }
                return all.service.held.count - before
            }
            #expect(try await served() == 1)
            var pointer: OpaquePointer?
            sd_bus_message_new_method_call(all.server.bus, &pointer, nil, "/", nil, "Hold")
            let size = MessageLimits.heldBytesOfUser
            all.server.admit(Message(adopting: try #require(pointer), size: size), of: all.peer)
            #expect(try await served() == 0)
            #expect(receiver.held.isEmpty)
            // One byte more than half still waits, then none.
            let half = MessageLimits.heldBytesOfUser / 2
            all.peer.user.held.bytes = half + 1
            all.server.hearAgain(all.peer.user)
            #expect(try await served() == 0)
            all.peer.user.held.bytes = half
            all.server.hearAgain(all.peer.user)
            all.peer.user.held.bytes = 0
            #expect(try await served() == 1)
        }
    }

    @Test("L21: next is one of the user who was given least, and nobody saves up")
    @BusActor
    func order() {
        let users = [UserAllowance(), UserAllowance()]
        let receivers = [0, 0, 1]
            .map { user in
                let receiver = Receiver("")
                receiver.user = users[user]
                return receiver
            }
        var turns = Turns()
        for receiver in receivers { turns.add(receiver) }
        var order: [Int] = []
        for _ in 0..<6 {
            guard let next = turns.next() else { break }
            order.append(receivers.firstIndex { $0 === next } ?? -1)
            next.user?.given += next === receivers[2] ? 10 : 20
            turns.add(next)
        }
        #expect(order == [0, 2, 2, 1, 2, 2])
        // Somebody who waited for nothing so far has one turn, not all that it missed.
        let late = Receiver("")
        late.user = UserAllowance()
        turns.add(late)
        #expect(late.user?.given == 30)
        // Nor does anybody wait for long who was given far more.
        let rich = Receiver("")
        rich.user = UserAllowance()
        rich.user?.given = 10 * 1024 * 1024
        turns.add(rich)
        #expect(rich.user?.given == 30 + 64 * 1024)
        // A connection that ends does the same: who waits and its user refer to each other.
        while turns.next() != nil {}
    }

    @Test("L21: a call has so many values in variants; an answer, which is asked for, has more")
    @BusActor
    func values() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            for (count, isOfCall, isTaken) in [
                (1000, true, true), (MessageLimits.valuesOfCall, true, false),
                (MessageLimits.valuesOfCall, false, true),
            ] {
                var pointer: OpaquePointer?
                sd_bus_message_new_method_call(all.server.bus, &pointer, nil, "/", nil, "Hold")
                let message = Message(adopting: try #require(pointer))
                if isOfCall { message.caller = all.peer }
                let pair = Variant.structure([.bool(true)])
                let value = Variant.array(
                    element: Signature(unchecked: "(b)"),
                    [Variant](repeating: pair, count: count / 2)
                )
                _ = try OutgoingMessage.fill(message.pointer, "v") { (writer) throws(DBusError) in
                    try value.write(to: &writer)
                }
                sd_bus_message_seal(message.pointer, 1, 0)
                var size = 0
                let read = try? message.read("v") { (reader) throws(DBusError) in
                    defer { size = reader.size }
                    return try reader.read(Variant.self)
                }
                #expect((read != nil) == isTaken, "\(count)")
                // What waits is counted by what it takes.
                #expect(!isTaken || size >= 2 * count * MessageLimits.bytesOfElement)
            }
        }
    }

    @Test("L21: of calls that want no answer, which no bus bounds, few wait for a user")
    @BusActor
    func unanswered() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let receiver = try #require(all.peer.receiver)
            var count = 0
            while count < 1000 {
                var pointer: OpaquePointer?
                sd_bus_message_new_method_call(all.server.bus, &pointer, nil, "/", nil, "Hold")
                let call = Message(adopting: try #require(pointer), size: 100)
                sd_bus_message_set_expect_reply(call.pointer, 0)
                guard receiver.hold(call) else { break }
                count += 1
            }
            #expect(count < 70)
            while receiver.takeHeld() != nil {}
            #expect(all.peer.user.held == Amount())
        }
    }

    @Test("L21: the calls of a user that wait have one bound, and so have their descriptors")
    @BusActor
    func bound() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let receiver = try #require(all.peer.receiver)
            let call = { @BusActor (size: Int, descriptors: Int) throws -> Message in
                var pointer: OpaquePointer?
                sd_bus_message_new_method_call(all.server.bus, &pointer, nil, "/", nil, "Hold")
                return Message(
                    adopting: try #require(pointer),
                    descriptors: descriptors,
                    size: size
                )
            }
            #expect(receiver.hold(try call(MessageLimits.heldBytesOfUser / 2, 0)))
            #expect(!receiver.hold(try call(MessageLimits.heldBytesOfUser / 2, 0)))
            #expect(receiver.hold(try call(0, MessageLimits.heldDescriptors)))
            #expect(!receiver.hold(try call(0, 1)))
            // Another connection of the same user shares the bound.
            let other = Receiver("")
            other.user = receiver.user
            #expect(!other.hold(try call(0, 1)))
        }
    }
}

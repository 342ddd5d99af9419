import Glibc
import Linux
import TestSupport
import Testing

@testable import DBus

/// Receivers who don't read, on a bus with the limits of a system bus.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct UnreadTests {
    /// A service that bounds what is unread, somebody who never reads, and somebody who does.
    @BusActor
    struct Neighbours {
        let server: Connection
        let service: ExampleService
        let silent: RawClient
        let honest: Connection

        init(_ bus: PrivateBus) throws {
            server = try bus.connect()
            server.serveStrangers()
            service = ExampleService(server)
            server.export(ExampleService.path, [service])
            // For a long introspection.
            for number in 0..<400 {
                let path = ObjectPath(unchecked: ExampleService.path.rawValue + "/child_\(number)")
                server.export(path, [service])
            }
            silent = try RawClient(bus.address)
            honest = try bus.connect()
        }

        /// Sends some calls, fewer than a bus lets wait for their answers.
        func call(_ interface: String, _ member: String, path: String) throws {
            for _ in 0..<100 {
                try silent.send(
                    to: server.uniqueName,
                    path: path,
                    interface: interface,
                    member: member
                )
            }
        }

        /// Waits until the only calls that wait are of those who don't read.
        func settle() async throws {
            try await beAnswered()
            try await eventually("whoever reads to be served") { server.turns.isEmpty }
        }

        func beAnswered() async throws {
            _ = try await honest.call(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
        }

        /// What the bus keeps of what the service has sent.
        func unread() async throws -> Amount {
            let reply = try await honest.call(
                to: Connection.driver,
                path: .bus,
                interface: "org.freedesktop.DBus.Debug.Stats",
                member: "GetConnectionStats",
                signature: "s"
            ) { (writer) throws(DBusError) in try writer.write(server.uniqueName) }
            let values = try reply.read("a{sv}") { (reader) throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            return Amount(
                bytes: Int(try #require(values["IncomingBytes"]?.asUInt32)),
                descriptors: Int(try #require(values["IncomingFDs"]?.asUInt32))
            )
        }
    }

    /// Answers of every kind: of a method, an error, sd-bus's own and the runtime's.
    static let calls = [
        ("org.example.Test1", "Who", "/org/example/Test1"),
        ("org.example.Test1", "Nonsense", "/org/example/Test1"),
        ("org.freedesktop.DBus.Peer", "GetMachineId", "/"),
        ("org.freedesktop.DBus.Introspectable", "Introspect", "/org/example/Test1"),
        ("org.freedesktop.DBus.Introspectable", "Introspect", "/none"),
    ]

    @Test(
        "L21: who never reads gets no more than its credit, whatever it calls; others are answered",
        arguments: calls
    )
    @BusActor
    func credit(interface: String, member: String, path: String) async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            var most = 0
            // Thrice what it may leave, or as many small answers as take a second or two.
            for _ in 0..<200 {
                try all.call(interface, member, path: path)
                try await all.settle()
                most = max(most, try await all.unread().bytes)
                if most > 3 * UnreadLimits.connection.bytes { break }
            }
            let answer = member == "Introspect" && path != "/none" ? 20_000 : 500
            let allowed = UnreadLimits.connection.bytes + 100 * answer
            #expect(most <= allowed, "\(most) bytes")
            #expect(most > 1024 * 1024, "the attack is none: \(most) bytes")
        }
    }

    @Test("L21: who reads at last is answered again, and its credit is whole")
    @BusActor
    func recovery() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let receiver = { all.server.receivers[all.silent.name] }
            // What it leaves unread before the first of its calls waits.
            let credit = { @BusActor () async throws -> Int in
                while receiver()?.held.isEmpty != false {
                    try all.call(
                        "org.freedesktop.DBus.Introspectable",
                        "Introspect",
                        path: ExampleService.path.rawValue
                    )
                    try await all.settle()
                }
                return try await all.unread().bytes
            }
            let first = try await credit()
            // Calls that wait take the place of this one.
            let (silent, name) = (all.silent, all.server.uniqueName)
            try await Task.detached {
                _ = try silent.receive(until: "child_399")
                for _ in 0..<100 {
                    // Whoever was dropped while too many waited is asked for again.
                    try silent.send(
                        to: name,
                        path: "/org/example/Test1",
                        interface: "org.example.Test1",
                        member: "Refuse"
                    )
                }
                _ = try silent.receive(until: "Not today.")
            }
            .value
            try await eventually("its calls to be served") { receiver()?.held.isEmpty == true }
            #expect(try await credit() > first * 9 / 10)
        }
    }

    @Test("L21: somebody who reads is never kept waiting, however much it is sent")
    @BusActor
    func honest() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            // Far beyond the credit in all, and as much at a time as the bus allows.
            for _ in 0..<20 {
                let calls = try (0..<100)
                    .map { _ in
                        try all.honest.startCall(
                            to: all.server.uniqueName,
                            path: ExampleService.path,
                            interface: "org.freedesktop.DBus.Introspectable",
                            member: "Introspect"
                        )
                    }
                for call in calls { _ = try await call.reply() }
            }
            try await eventually("everything to be known as read") {
                try await all.beAnswered()
                return all.server.unread.bytes < UnreadLimits.asked.bytes
            }
        }
    }

    @Test("L21: descriptors that are sent and not taken are bounded, and an error says so")
    @BusActor
    func descriptors() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let file = try Files.holding([1])
            var refusal: DBusError?
            for _ in 0..<64 where refusal == nil {
                do throws(DBusError) {
                    _ = try all.server.startCall(
                        to: all.silent.name,
                        path: ExampleService.path,
                        interface: ExampleService.name,
                        member: "Begin",
                        signature: "hay"
                    ) { (writer) throws(DBusError) in
                        try writer.write(file)
                        // More than fits into a socket, so that the bus has to keep it.
                        try writer.write([UInt8](repeating: 0, count: 250_000))
                    }
                } catch {
                    refusal = error
                }
                try await all.beAnswered()
            }
            #expect(refusal?.name == .limitsExceeded)
            #expect(try await all.unread().descriptors <= UnreadLimits.connection.descriptors)
            try await all.beAnswered()
        }
    }

    @Test("L21: signals to who never reads are bounded as well")
    @BusActor
    func signals() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let text = String(repeating: "a", count: 100_000)
            for _ in 0..<200 {
                all.server.emit(
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Event",
                    signature: "s",
                    to: all.silent.name
                ) { (writer) throws(DBusError) in try writer.write(text) }
                try await all.beAnswered()
            }
            let unread = try await all.unread().bytes
            #expect(unread <= 2 * UnreadLimits.connection.bytes + 200_000)
            #expect(unread > 1024 * 1024, "the attack is none: \(unread) bytes")
        }
    }

    /// A string as a message has it.
    private static func string(_ text: String) -> [UInt8] {
        let count = UInt32(text.utf8.count).littleEndian
        return withUnsafeBytes(of: count) { Array($0) } + Array(text.utf8) + [0]
    }

    @Test("L21: signals to everybody are bounded by what the slowest leaves unread")
    @BusActor
    func broadcasts() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            try all.silent.send(
                to: Connection.driver,
                path: "/org/freedesktop/DBus",
                interface: Connection.driver,
                member: "AddMatch",
                signature: "s",
                body: Self.string("type='signal',interface='\(ExampleService.name)'")
            )
            let text = String(repeating: "a", count: 100_000)
            let heard = Witness<Bool>()
            let source = all.honest.subscribe(
                sender: all.server.uniqueName,
                path: nil,
                interface: ExampleService.name,
                member: nil,
                broadcast: true
            ) { _ in heard.record(true) }
            try await all.beAnswered()
            for _ in 0..<200 {
                all.server.emit(
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Event",
                    signature: "s"
                ) { (writer) throws(DBusError) in try writer.write(text) }
                try await all.beAnswered()
            }
            let unread = try await all.unread().bytes
            #expect(unread <= 2 * UnreadLimits.connection.bytes + 200_000)
            #expect(unread > 1024 * 1024, "the attack is none: \(unread) bytes")
            #expect(!heard.seen.isEmpty)
            source.cancel()
        }
    }

    @Test(
        "L21: a bus that does not say what is unread keeps nobody waiting",
        arguments: [
            // What dbus-broker answers.
            (DBusError.Name.failed, false), (.accessDenied, false), (.unknownMethod, false),
            (.noReply, true),
        ]
    )
    @BusActor
    func withoutStatistics(_ error: DBusError.Name, isCounted: Bool) async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            server.serveStrangers()
            let receiver = try #require(server.receiver(":1.4242"))
            receiver.add(UnreadLimits.connection)
            server.unread += UnreadLimits.connection
            #expect(!receiver.hasCredit(beside: server.unread))
            server.ask(receiver)
            // In the same turn: the bus itself has not answered.
            let question = try #require(server.pending.values.first)
            question.finish(.failure(DBusError(error, "")))
            #expect(server.countsUnread == isCounted)
            #expect(receiver.hasCredit(beside: server.unread) == !isCounted)
            #expect(server.unread == (isCounted ? UnreadLimits.connection : Amount()))
        }
    }

    @Test("L21: what all connections of a user leave unread has one bound, of its own")
    @BusActor
    func user() throws {
        let user = UserAllowance()
        let receivers = (0..<5).map { Receiver(":1.\($0)") }
        let share = Amount(bytes: UnreadLimits.user.bytes / 4)
        for receiver in receivers { receiver.user = user }
        receivers[4].add(Amount(bytes: 1))
        for receiver in receivers[..<3] { receiver.add(share) }
        #expect(receivers[4].hasCredit(beside: user.unread))
        receivers[3].add(share)
        #expect(!receivers[4].hasCredit(beside: user.unread))
        // One that has taken everything is served for longer, and not without end.
        let idle = Receiver(":1.5")
        idle.user = user
        #expect(idle.hasCredit(beside: user.unread))
        for receiver in receivers[..<2] { receiver.add(share) }
        #expect(!idle.hasCredit(beside: user.unread))
        // So are the answers to what was begun before.
        let rest = 3 * UnreadLimits.user.bytes - user.unread.bytes
        #expect(idle.mayGet(Amount(bytes: rest), beside: user.unread))
        #expect(!idle.mayGet(Amount(bytes: rest + 1), beside: user.unread))
        let stranger = Receiver(":1.9")
        stranger.user = UserAllowance()
        stranger.add(Amount(bytes: 1))
        #expect(stranger.hasCredit(beside: user.unread))
    }

    @Test("L21: what several users leave unread together leaves room for a little of each")
    @BusActor
    func users() throws {
        var all = Amount()
        func receiver() -> Receiver {
            let receiver = Receiver(":1.1")
            receiver.user = UserAllowance()
            return receiver
        }
        let large = Amount(bytes: 8 * 1024 * 1024)
        let greedy = (0..<40).map { _ in receiver() }
        for one in greedy where one.mayGet(large, beside: all) {
            one.add(large)
            all += large
        }
        #expect(all.bytes <= UnreadLimits.allBytes)
        // One answer that was begun before can be what is too much.
        let late = receiver()
        late.add(large)
        all += large
        let honest = receiver()
        let answer = Amount(bytes: 4096)
        #expect(honest.hasCredit(beside: all) && honest.mayGet(answer, beside: all))
        #expect(!honest.mayGet(large, beside: all))
        #expect(!late.hasCredit(beside: all) && !late.mayGet(answer, beside: all))
        // Neither by another connection.
        let other = Receiver(":1.2")
        other.user = late.user
        #expect(!other.hasCredit(beside: all) && !other.mayGet(answer, beside: all))
    }

    @Test("L21: what one connection of a user has read is not held against another for ever")
    @BusActor
    func others() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let idle = try bus.connect()
            for _ in 0..<3 {
                _ = try await idle.call(
                    to: all.server.uniqueName,
                    path: ExampleService.path,
                    interface: "org.freedesktop.DBus.Introspectable",
                    member: "Introspect"
                )
            }
            let counted = all.server.receivers[idle.uniqueName]?.unread.bytes ?? 0
            #expect(counted > UnreadLimits.little)
            // Other users leave as much as all together may.
            all.server.unread += Amount(bytes: UnreadLimits.allBytes)
            try await all.beAnswered()
        }
    }

    @Test("L21: a small answer comes, whatever its receiver was sent since it called")
    @BusActor
    func smallAnswer() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let call = try all.honest.startCall(
                to: all.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Hold"
            )
            try await eventually("the call") { !all.service.held.isEmpty }
            let receiver = try #require(all.server.receivers[all.honest.uniqueName])
            let much = Amount(bytes: 2 * UnreadLimits.connection.bytes)
            receiver.add(much)
            all.server.unread += much
            all.service.held.removeFirst().fail(DBusError("org.example.Error.No", ""))
            try await expectError("org.example.Error.No", of: "Hold") { _ = try await call.reply() }
            let answer = Amount(bytes: 1)
            #expect(!receiver.mayGet(answer, beside: UnreadLimits.most, asAnswer: true))
        }
    }

    @Test("L21: what waits to be sent is counted until it is sent, or its receiver has left")
    @BusActor
    func outgoing() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let guest = try bus.connect()
            _ = try await guest.call(
                to: all.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
            let text = String(repeating: "a", count: 100_000)
            @BusActor func send(to name: String) {
                all.server.emit(
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Event",
                    signature: "s",
                    to: name
                ) { (writer) throws(DBusError) in try writer.write(text) }
            }
            // In one turn: the bus takes the first of them alone.
            for _ in 0..<10 { send(to: guest.uniqueName) }
            #expect(all.server.outgoing.bytes > text.utf8.count)
            try await eventually("them to be sent") { all.server.outgoing == Amount() }
            for _ in 0..<10 { send(to: guest.uniqueName) }
            all.server.forgetReceiver(guest.uniqueName)
            #expect(all.server.outgoing == Amount())
        }
    }

    @Test("L21: what was sent to somebody who has left is forgotten")
    @BusActor
    func leaving() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let guest = try bus.connect()
            _ = try await guest.call(
                to: all.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
            let name = guest.uniqueName
            #expect(all.server.receivers[name] != nil)
            guest.close()
            try await eventually("it to be forgotten") { all.server.receivers[name] == nil }
            let sum = all.server.receivers.values.reduce(0) { $0 + $1.unread.bytes }
            #expect(all.server.unread.bytes == sum)
        }
    }

    @Test("L21: what is answered to somebody who has left is charged to nobody")
    @BusActor
    func departedAnswers() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let guest = try bus.connect()
            for _ in 0..<2 {
                _ = try guest.startCall(
                    to: all.server.uniqueName,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Hold"
                )
            }
            try await eventually("its calls") { all.service.held.count == 2 }
            let name = guest.uniqueName
            guest.close()
            try await eventually("it to be forgotten") { all.server.receivers[name] == nil }
            all.service.held[0].fail(DBusError(.failed, "Too late."))
            all.service.held[1]
                .answer(.now("Too late."), "s") { (text, writer) throws(DBusError) in
                    try writer.write(text)
                }
            let sum = all.server.receivers.values.reduce(into: Amount()) { $0 += $1.unread }
            #expect(all.server.unread == sum)
        }
    }

    @Test("L20, L21: what somebody owes who left unheard keeps others waiting for a moment alone")
    @BusActor
    func departedDebt() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            all.server.quota = CallQuota(table: [:], limits: [:], bytesPerUser: .max)
            let gone = try #require(all.server.receiver(":1.4242"))
            gone.add(UnreadLimits.most)
            all.server.unread += UnreadLimits.most
            try await all.beAnswered()
            #expect(all.server.unread.bytes < UnreadLimits.asked.bytes)
        }
    }
}

import TestSupport
import Testing

@testable import BusGuard
@testable import DBus

/// Receivers who don't read, on a bus with the limits of a system bus.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct UnreadTests {
    /// A service that bounds what is unread, somebody who never reads, and somebody who does.
    @BusActor
    struct Neighbours {
        let server: Connection
        let guarded: NeighbourGuard
        let service: ExampleService
        let silent: RawClient
        let honest: Connection

        init(_ bus: PrivateBus) throws {
            server = try bus.connect()
            guarded = NeighbourGuard(server)
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
            try await eventually("whoever reads to be served") { guarded.queue.isEmpty }
        }

        func beAnswered() async throws {
            _ = try await honest.call(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
        }

        /// Has a client be sent more than a little, which it reads.
        func beSentMuch(_ client: Connection) async throws {
            for _ in 0..<3 {
                _ = try await client.call(
                    to: server.uniqueName,
                    path: ExampleService.path,
                    interface: "org.freedesktop.DBus.Introspectable",
                    member: "Introspect"
                )
            }
        }

        /// What the bus keeps of what the service has sent.
        func unread() async throws -> Int {
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
            return Int(try #require(values["IncomingBytes"]?.asUInt32))
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
                most = max(most, try await all.unread())
                if most > 3 * GuardLimits.unreadOfConnection { break }
            }
            let answer = member == "Introspect" && path != "/none" ? 20_000 : 500
            let allowed = GuardLimits.unreadOfConnection + 100 * answer
            #expect(most <= allowed, "\(most) bytes")
            #expect(most > 1024 * 1024, "the attack is none: \(most) bytes")
        }
    }

    @Test("L21: who reads at last is answered again, and its credit is whole")
    @BusActor
    func recovery() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let caller = { all.guarded.callers[all.silent.name] }
            // What it leaves unread before the first of its calls waits.
            let credit = { @BusActor () async throws -> Int in
                while caller()?.backlog.isEmpty != false {
                    try all.call(
                        "org.freedesktop.DBus.Introspectable",
                        "Introspect",
                        path: ExampleService.path.rawValue
                    )
                    try await all.settle()
                }
                return try await all.unread()
            }
            let first = try await credit()
            // Calls that wait take the place of this one.
            let (silent, name) = (all.silent, all.server.uniqueName)
            try await Task.detached {
                _ = try silent.receive(until: "child_399")
                for _ in 0..<100 {
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
            try await eventually("its calls to be served") { caller()?.backlog.isEmpty == true }
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
                return all.guarded.unread < GuardLimits.unreadAsked
            }
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
            let guarded = NeighbourGuard(server)
            let caller = guarded.caller(":1.4242")
            guarded.sent(GuardLimits.unreadOfConnection, to: caller.name)
            #expect(guarded.isBlocked(caller))
            // In the same turn: the bus itself has not answered.
            let question = try #require(server.outgoing.pending.values.first)
            question.finish(.failure(DBusError(error, "")))
            #expect(guarded.asksUnread == isCounted)
            #expect(guarded.isBlocked(caller) == isCounted)
            #expect(guarded.unread == (isCounted ? GuardLimits.unreadOfConnection : 0))
        }
    }

    /// A caller with so many unread bytes.
    @BusActor
    private static func caller(_ unread: Int = 0, of user: UserShare = UserShare()) -> Caller {
        let caller = Caller(":1.1")
        caller.addUnread(unread)
        caller.identify(as: user)
        return caller
    }

    @Test("L21: what all connections of a user leave unread has one bound, of its own")
    @BusActor
    func user() async throws {
        try await PrivateBus.run { bus in
            let guarded = NeighbourGuard(try bus.connect())
            let user = UserShare()
            let share = GuardLimits.unreadOfUser / 4
            let caller = Self.caller(1, of: user)
            for _ in 0..<3 { _ = Self.caller(share, of: user) }
            #expect(!guarded.isBlocked(caller))
            _ = Self.caller(share, of: user)
            #expect(guarded.isBlocked(caller))
            // A connection that has read everything is served for longer, and not without end.
            let idle = Self.caller(of: user)
            #expect(!guarded.isBlocked(idle))
            for _ in 0..<2 { _ = Self.caller(share, of: user) }
            #expect(guarded.isBlocked(idle))
            #expect(!guarded.isBlocked(Self.caller(1)))
        }
    }

    @Test("L21: what several users leave unread together leaves room for a little of each")
    @BusActor
    func users() async throws {
        try await PrivateBus.run { bus in
            let guarded = NeighbourGuard(try bus.connect())
            let user = UserShare()
            let callers = [Self.caller(GuardLimits.little, of: user), Self.caller(of: user)]
            guarded.unread = GuardLimits.unreadOfAll
            for caller in callers { #expect(!guarded.isBlocked(caller)) }
            user.unread += 1
            for caller in callers { #expect(guarded.isBlocked(caller)) }
        }
    }

    @Test("L21: the bus is asked what somebody has read whose user, or all together, owe much")
    @BusActor
    func doubts() async throws {
        try await PrivateBus.run { bus in
            let guarded = NeighbourGuard(try bus.connect())
            let (user, much) = (UserShare(), GuardLimits.unreadOfUser / 4)
            let (caller, other) = (Self.caller(1, of: user), Self.caller(1))
            user.unread = much - 1
            #expect(!guarded.isDoubtful(caller))
            user.unread = much
            #expect(guarded.isDoubtful(caller))
            guarded.unread = GuardLimits.unreadOfAll / 4 - 1
            #expect(!guarded.isDoubtful(other))
            guarded.unread += 1
            #expect(guarded.isDoubtful(other))
            guarded.unread = 0
            other.addUnread(GuardLimits.unreadAsked - 1)
            #expect(guarded.isDoubtful(other))
        }
    }

    @Test("L21: what one connection of a user has read is not held against another for ever")
    @BusActor
    func others() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let idle = try bus.connect()
            try await all.beSentMuch(idle)
            let counted = all.guarded.callers[idle.uniqueName]?.unread ?? 0
            #expect(counted > GuardLimits.little)
            // Other users leave as much as all together may.
            all.guarded.unread += GuardLimits.unreadOfAll
            try await all.beAnswered()
        }
    }

    /// Answers held calls with so many bytes each.
    @BusActor
    private static func answer(_ calls: [IncomingCall], bytes: Int) {
        let value = [UInt8](repeating: 7, count: bytes)
        for call in calls {
            call.answer(.now(value), "ay") { (value, writer) throws(DBusError) in
                try writer.write(value)
            }
        }
    }

    @Test("L21: calls that began before their caller stopped reading get no more than its credit")
    @BusActor
    func lateAnswers() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            try all.call(ExampleService.name, "Hold", path: ExampleService.path.rawValue)
            try await eventually("its calls") { all.service.held.count == 100 }
            let size = 256 * 1024
            Self.answer(all.service.held, bytes: size)
            try await all.beAnswered()
            let most = 2 * GuardLimits.unreadOfConnection + size + 100 * 500
            let left = try await all.unread()
            #expect(left <= most, "\(left) bytes")
            #expect(left > GuardLimits.unreadOfConnection, "no attack: \(left) bytes")
        }
    }

    @Test("L21, L31: a refusal waits until its caller reads, and then comes")
    @BusActor
    func refusals() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let (silent, name) = (all.silent, all.server.uniqueName)
            let path = ExampleService.path.rawValue
            for _ in 0..<3 {
                try silent.send(
                    to: name,
                    path: path,
                    interface: ExampleService.name,
                    member: "Hold"
                )
            }
            try await eventually("its calls") { all.service.held.count == 3 }
            Self.answer(all.service.held, bytes: MessageLimits.bytes)
            // More than a user's calls may take while they wait.
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: 60 * 1024)
            let length = withUnsafeBytes(of: UInt32(text.count).littleEndian) { Array($0) }
            try await Task.detached {
                for _ in 0..<80 {
                    try silent.send(
                        to: name,
                        path: path,
                        interface: ExampleService.name,
                        member: "EchoLater",
                        signature: "s",
                        body: length + text + [0]
                    )
                }
            }
            .value
            try await eventually("its calls to wait") {
                all.guarded.callers[silent.name]?.backlog.count == 80
            }
            let waiting = all.guarded.callers[silent.name]?.backlog ?? []
            #expect(waiting.contains { $0.isRefused } && waiting.contains { !$0.isRefused })
            try await all.beAnswered()
            _ = try await Task.detached { try silent.receive(until: "too many wait.") }.value
            try await eventually("no call to wait") {
                all.guarded.callers[silent.name]?.backlog.isEmpty == true
            }
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
            #expect(all.guarded.callers[name] != nil)
            guest.close()
            try await eventually("it to be forgotten") { all.guarded.callers[name] == nil }
            let sum = all.guarded.callers.values.reduce(0) { $0 + $1.unread }
            #expect(all.guarded.unread == sum)
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
            try await eventually("it to be forgotten") { all.guarded.callers[name] == nil }
            all.service.held[0].fail(DBusError(.failed, "Too late."))
            all.service.held[1]
                .answer(.now("Too late."), "s") { (text, writer) throws(DBusError) in
                    try writer.write(text)
                }
            let sum = all.guarded.callers.values.reduce(0) { $0 + $1.unread }
            #expect(all.guarded.unread == sum)
        }
    }

    @Test("L20, L21: what somebody owes who left unheard keeps others waiting for a moment alone")
    @BusActor
    func departedDebt() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let guest = try bus.connect()
            let name = guest.uniqueName
            _ = try await all.server.peer(named: name)
            try await bus.lose(.nameOwnerChanged)
            guest.close()
            try await all.beSentMuch(all.honest)
            all.guarded.caller(name).addUnread(GuardLimits.unreadOfAll)
            all.guarded.unread += GuardLimits.unreadOfAll
            try await all.beAnswered()
            try await eventually("the debt to be forgotten") {
                try await all.beSentMuch(all.honest)
                return all.guarded.unread < GuardLimits.unreadAsked
            }
        }
    }
}

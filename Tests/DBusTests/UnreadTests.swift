import TestSupport
import Testing

@testable import BusGuard
@testable import DBus

/// Receivers that do not read, on a bus with the limits of a system bus.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct UnreadTests {
    /// A service with a guard, a client that never reads, and an honest client.
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
            // Makes introspection data long.
            for number in 0..<400 {
                let path = ObjectPath(unchecked: ExampleService.path.rawValue + "/child_\(number)")
                server.export(path, [service])
            }
            silent = try RawClient(bus.address)
            honest = try bus.connect()
        }

        /// Sends fewer calls than the bus's limit of unanswered calls.
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

        /// Waits until only calls of clients that do not read are left.
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

        /// Sends a client more than ``GuardLimits/alwaysAllowedUnread``, which the client reads.
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

        /// The bytes that the bus still keeps of the service's messages.
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
        "L21: a client that never reads gets only its credit; others are answered",
        arguments: calls
    )
    @BusActor
    func credit(interface: String, member: String, path: String) async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            var most = 0
            // Three times the credit, or as many small answers as take a second or two.
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

    @Test("L21: a client that reads at last is answered again, and has its full credit")
    @BusActor
    func recovery() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let caller = { all.guarded.callers[all.silent.name] }
            // Unread bytes when the first of its calls waits.
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
            // A single call might find no room beside the waiting calls, so send many.
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

    @Test("L21: a client that reads is never kept waiting")
    @BusActor
    func honest() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            // Far beyond the credit in total, and as much at a time as the bus allows.
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
        "L21: a bus without statistics of unread bytes blocks no caller",
        arguments: [
            // The answer of dbus-broker.
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
            // In the same turn, before the bus itself answers.
            let question = try #require(server.outgoing.pending.values.first)
            question.finish(.failure(DBusError(error, "")))
            #expect(guarded.asksUnread == isCounted)
            #expect(guarded.isBlocked(caller) == isCounted)
            #expect(guarded.unread == (isCounted ? GuardLimits.unreadOfConnection : 0))
        }
    }

    /// A caller with `unread` unread bytes.
    @BusActor
    private static func caller(_ unread: Int = 0, of user: UserShare = UserShare()) -> Caller {
        let caller = Caller(":1.1")
        caller.addUnread(unread)
        caller.identify(as: user)
        return caller
    }

    @Test("L21: unread bytes of all connections of a user share a limit of the user's own")
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
            // A connection that has read everything is served for longer, but not without limit.
            let idle = Self.caller(of: user)
            #expect(!guarded.isBlocked(idle))
            for _ in 0..<2 { _ = Self.caller(share, of: user) }
            #expect(guarded.isBlocked(idle))
            #expect(!guarded.isBlocked(Self.caller(1)))
        }
    }

    @Test("L21: unread bytes of all users together leave each user a little room")
    @BusActor
    func users() async throws {
        try await PrivateBus.run { bus in
            let guarded = NeighbourGuard(try bus.connect())
            let user = UserShare()
            let callers = [
                Self.caller(GuardLimits.alwaysAllowedUnread, of: user), Self.caller(of: user),
            ]
            guarded.unread = GuardLimits.unreadOfAll
            for caller in callers { #expect(!guarded.isBlocked(caller)) }
            user.unread += 1
            for caller in callers { #expect(guarded.isBlocked(caller)) }
        }
    }

    @Test("L21: the bus is asked about unread bytes when the user or all users owe much")
    @BusActor
    func doubts() async throws {
        try await PrivateBus.run { bus in
            let guarded = NeighbourGuard(try bus.connect())
            let (user, much) = (UserShare(), GuardLimits.unreadOfUser / 4)
            let (caller, other) = (Self.caller(1, of: user), Self.caller(1))
            user.unread = much - 1
            #expect(!guarded.needsUnreadQuery(caller))
            user.unread = much
            #expect(guarded.needsUnreadQuery(caller))
            guarded.unread = GuardLimits.unreadOfAll / 4 - 1
            #expect(!guarded.needsUnreadQuery(other))
            guarded.unread += 1
            #expect(guarded.needsUnreadQuery(other))
            guarded.unread = 0
            other.addUnread(GuardLimits.unreadAsked - 1)
            #expect(guarded.needsUnreadQuery(other))
        }
    }

    @Test("L21: read bytes of one connection do not block the user's other connections for ever")
    @BusActor
    func others() async throws {
        try await PrivateBus.run { bus in
            let all = try Neighbours(bus)
            let idle = try bus.connect()
            try await all.beSentMuch(idle)
            let counted = all.guarded.callers[idle.uniqueName]?.unread ?? 0
            #expect(counted > GuardLimits.alwaysAllowedUnread)
            // As if other users left as many bytes unread as all may.
            all.guarded.unread += GuardLimits.unreadOfAll
            try await all.beAnswered()
        }
    }

    /// Answers held calls with `bytes` bytes each.
    @BusActor
    private static func answer(_ calls: [IncomingCall], bytes: Int) {
        let value = [UInt8](repeating: 7, count: bytes)
        for call in calls {
            call.answer(.now(value), "ay") { (value, writer) throws(DBusError) in
                try writer.write(value)
            }
        }
    }

    @Test("L21: calls from before their caller stopped reading get no more than its credit")
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

    @Test("L21, L31: a refusal waits until its caller reads, and then arrives")
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
            // More than the limit of a user's waiting calls.
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

    @Test("L21: unread bytes of a caller that left are forgotten")
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

    @Test("L21: an answer to a caller that left is charged to no user")
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

    @Test("L20, L21: unread bytes of an absent caller delay others only for a moment")
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

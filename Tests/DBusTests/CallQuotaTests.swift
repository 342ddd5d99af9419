import BusGuard
import DBus
import Glibc
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct CallQuotaTests {
    @BusActor
    private static func quota(bytes: Int = 1000) -> CallQuota {
        CallQuota(
            table: [ExampleService.name: ["Who": .immediate, "Containers": .immediate]],
            limits: [.query: .init(perConnection: 2, perUser: 3)],
            bytesPerUser: bytes
        )
    }

    @Test("L21: a connection's waiting calls have a limit; immediate calls are answered")
    @BusActor
    func perConnection() async throws {
        try await withPair { pair in
            let quota = Self.quota()
            _ = NeighbourGuard(pair.server, quota: quota)
            let tasks = (0..<2).map { _ in onLoop { _ = await pair.error("Wait") } }
            while pair.service.waits < 2 { #expect(await pair.error("Who") == nil) }
            #expect(await pair.error("RefuseLater") == .limitsExceeded)
            #expect(await pair.error("Wait") == .limitsExceeded)
            #expect(pair.service.waits == 2, "a refused call does nothing")
            #expect(await pair.error("Who") == nil)
            #expect(quota.calls(of: getuid()) == 2)
            for task in tasks { task.cancel() }
        }
    }

    @Test("L21: a user's waiting calls have a limit across all connections")
    @BusActor
    func perUser() async throws {
        try await withPair { one in
            try await withPair { two in
                let quota = Self.quota()
                for pair in [one, two] { _ = NeighbourGuard(pair.server, quota: quota) }
                let tasks = [one, one, two].map { pair in onLoop { _ = await pair.error("Wait") } }
                while one.service.waits < 2 { #expect(await one.error("Who") == nil) }
                while two.service.waits < 1 { #expect(await two.error("Who") == nil) }
                // This connection has room for another call.
                #expect(await two.error("RefuseLater") == .limitsExceeded)
                #expect(await two.error("Who") == nil)
                #expect(quota.calls(of: getuid()) == 3 && quota.calls(of: getuid() + 1) == 0)
                for task in tasks { task.cancel() }
            }
        }
    }

    @Test("L21: a call that has ended makes room for another")
    @BusActor
    func room() async throws {
        try await withPair { pair in
            let quota = Self.quota()
            _ = NeighbourGuard(pair.server, quota: quota)
            for _ in 0..<10 { #expect(await pair.error("RefuseLater") != .limitsExceeded) }
            for _ in 0..<10 {
                let error = await pair.error("EchoLater", "s") { (writer) throws(DBusError) in
                    try writer.write(String(repeating: "a", count: 200))
                }
                #expect(error == nil, "its 200 bytes are given back each time")
            }
            #expect(quota.calls(of: getuid()) == 0 && quota.bytes(of: getuid()) == 0)
        }
    }

    /// Checks that a waiting call with a value above half the user's limit counts for the user.
    @BusActor
    private static func expectHeld<Value: WireType>(
        _ value: Value,
        _ signature: String
    ) async throws {
        try await withPair { pair in
            let quota = Self.quota()
            _ = NeighbourGuard(pair.server, quota: quota)
            let end = Signal()
            let errors = Collected<DBusError.Name?>()
            for count in 1...2 {
                onLoop {
                    errors.add(
                        await pair.error("Hold", signature) { (writer) throws(DBusError) in
                            try writer.write(value)
                        }
                    )
                }
                while pair.service.held.isEmpty { #expect(await pair.error("Who") == nil) }
                let call = pair.service.held.removeFirst()
                _ = try call.read(signature) { (reader) throws(DBusError) in
                    try reader.read(Value.self)
                }
                let answer = Answer<Void>.later { () async throws(DBusError) in await end.wait() }
                call.answer(answer, "") { (_, _) throws(DBusError) in }
                if count == 1 { try #require(quota.bytes(of: getuid()) >= 900) }
            }
            #expect(await errors.first(1) == [.limitsExceeded])
            end.set()
            #expect(await errors.first(2) == [.limitsExceeded, nil])
            #expect(quota.bytes(of: getuid()) == 0)
        }
    }

    @Test("L21: a waiting call's arguments are charged to its user, text and bytes alike")
    @BusActor
    func heldArguments() async throws {
        try await Self.expectHeld(String(repeating: "a", count: 900), "s")
        try await Self.expectHeld([UInt8](repeating: 1, count: 900), "ay")
    }

    @Test("L21: all bytes held for a user share a limit")
    @BusActor
    func bytes() throws {
        let quota = Self.quota(bytes: 100)
        try quota.hold(60, of: 1)
        try quota.hold(40, of: 1)
        #expect(throws: DBusError.self) { try quota.hold(1, of: 1) }
        try quota.hold(100, of: 2)
        try quota.hold(30, insteadOf: 60, of: 1)
        #expect(throws: DBusError.self) { try quota.hold(71, insteadOf: 40, of: 1) }
        #expect(quota.bytes(of: 1) == 70)
        quota.release(70, of: 1)
        #expect(quota.bytes(of: 1) == 0)
    }

    @Test("L21: when all users hold much, each may have only an equal share")
    @BusActor
    func share() throws {
        let quota = CallQuota(table: [:], limits: [:], bytesPerUser: 100, bytesOfAll: 200)
        for uid: UInt32 in 1...2 { try quota.hold(100, of: uid) }
        #expect(throws: DBusError.self) { try quota.hold(67, of: 3) }
        try quota.hold(66, of: 3)
        #expect(throws: DBusError.self) { try quota.hold(1, of: 3) }
        // Holding less is always allowed.
        try quota.hold(65, insteadOf: 66, of: 3)
        quota.release(100, of: 1)
        try quota.hold(35, of: 3)
    }

    @Test("L21: the bytes held for all users together have a limit")
    @BusActor
    func bytesOfAll() {
        let quota = CallQuota(table: [:], limits: [:], bytesPerUser: 100, bytesOfAll: 2000)
        for uid: UInt32 in 0..<1000 {
            for bytes in [100, 50, 20, 10, 5, 2, 1] where (try? quota.hold(bytes, of: uid)) != nil {
                break
            }
        }
        let all = (0..<1000).reduce(0) { $0 + quota.bytes(of: UInt32($1)) }
        #expect(2000...4000 ~= all, "\(all)")
    }
}

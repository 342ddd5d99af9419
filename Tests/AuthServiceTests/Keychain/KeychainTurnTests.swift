import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// The order in which callers use the keychain.
@Suite("Turns at the keychain", .timeLimit(.minutes(10)))
struct KeychainTurnTests {
    init() { EventLoop.shared.startThread() }

    /// A call that has its turn, waits for it, or was refused.
    @BusActor
    private final class Call {
        private(set) var hasTurn = false
        private(set) var error: DBusError.Name?
        private(set) var task: Task<Void, Never>?

        init(_ turns: KeychainQueue, _ uid: UInt32) {
            task = onLoop {
                do throws(DBusError) {
                    try await turns.begin(of: uid)
                    self.hasTurn = true
                } catch {
                    self.error = error.name
                }
            }
        }
    }

    @Test("L16: each user has one turn at a time, in order, without departed callers")
    @BusActor
    func order() async throws {
        let turns = KeychainQueue()
        let (first, second, third) = (Call(turns, 1), Call(turns, 1), Call(turns, 1))
        let other = Call(turns, 2)
        await first.task?.value
        await other.task?.value
        #expect(first.hasTurn && other.hasTurn)
        second.task?.cancel()
        #expect(!second.hasTurn && !third.hasTurn)
        turns.end(of: 1)
        await second.task?.value
        await third.task?.value
        #expect(!second.hasTurn && second.error == .noReply)
        #expect(third.hasTurn)
        turns.end(of: 1)
        let fourth = Call(turns, 1)
        await fourth.task?.value
        #expect(fourth.hasTurn)
    }

    /// Creates a context with a wrong application password, and an item with another.
    @BusActor
    private static func wrong(
        _ bench: ServiceBench,
        _ person: Person
    ) async throws -> (id: String, context: Context1Proxy) {
        let context = try await bench.context(on: person.connection)
        try await context.setPassword("right")
        let id = try await bench.keychain(person.connection)
            .add("locked", flags: .applicationPassword, context: context)
        try await context.setPassword("wrong")
        return (id, context)
    }

    @Test(
        "L16: one user's key derivations never block other users",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func stretching() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let (_, context) = try await Self.wrong(bench, person)
            let keychain = bench.keychain(person.connection)
            let ours = bench.keychain()
            _ = try await ours.add("ours")
            var round = 0
            // On a busy machine all calls may end before this user's call, so repeat the round.
            try await eventually("ours to be before others", within: .seconds(300)) {
                round += 1
                let calls = Self.addSixty("round \(round)", keychain, context)
                // The connection's calls are handled in order, so all of them have arrived.
                _ = try await bench.canEvaluate(2, as: person.connection)
                #expect(try await ours.services() == ["ours"])
                // In a single queue this user's call would be the last.
                if calls.count(where: { $0.isPending }) >= 10 { return true }
                for call in calls { _ = try? await call.value() }
                return false
            }
        }
    }

    /// Adds items with a password, each of which is a long call.
    @BusActor
    private static func addSixty(
        _ name: String,
        _ keychain: KeychainClient,
        _ context: Context1Proxy
    ) -> [RunningCall<String>] {
        (0..<60)
            .map { number in
                let secret = Array("x".utf8)
                return RunningCall { () throws(DBusError) in
                    try await keychain.proxy.add(
                        attributes: [
                            "class": .string("genp"), "svce": .string("\(name), \(number)"),
                        ],
                        secret: secret,
                        accessControl: KeychainClient.control(.applicationPassword),
                        options: KeychainClient.options(context)
                    )
                }
            }
    }

    @Test("L16: a read counts for its connection until it is answered")
    func pending() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let (id, context) = try await Self.wrong(bench, person)
            let keychain = bench.keychain(person.connection)
            var calls: [RunningCall<String>] = []
            for _ in 0..<40 {
                calls.append(keychain.reading(id, context: context))
                // This reply follows any refusal. The first time, the refused caller may not have
                // run yet.
                for _ in 0..<2 { _ = try await bench.canEvaluate(2, as: person.connection) }
                #expect(calls.count { $0.isPending } <= 8)
            }
            await expectName(.keychainAuthFailed) { _ = try await calls[0].value() }
        }
    }
}

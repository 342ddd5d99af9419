import BusGuard
import DBus
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct CallBudgetTests {
    private static let lane = CallLane("test", capacity: 4, perUser: 2, waiting: 3)

    /// A call that keeps its place until told to end.
    @BusActor
    private final class Call {
        let begun = Signal()
        let end = Signal()
        let error = Collected<DBusError.Name?>()
        private(set) var task: Task<Void, Never>?

        init(_ budget: CallBudget, for user: UInt32, _ order: Collected<UInt32>? = nil) {
            task = onLoop {
                do throws(DBusError) {
                    try await budget.run(lane, for: user) { () throws(DBusError) in
                        order?.add(user)
                        self.begun.set()
                        await self.end.wait()
                    }
                    self.error.add(nil)
                } catch {
                    self.error.add(error.name)
                }
            }
        }
    }

    @Test("L21: a user's calls beyond its share wait, and delay no other user")
    @BusActor
    func shares() async {
        let budget = CallBudget()
        let flood = (0..<5).map { _ in Call(budget, for: 1) }
        await flood[1].begun.wait()
        let other = Call(budget, for: 2)
        await other.begun.wait()
        #expect(!flood[2].begun.isSet)
        #expect(budget.load(Self.lane) == (3, 3))
        // A place of another user does not help a user at its limit.
        #expect(budget.begin(Self.lane, for: 3))
        budget.end(Self.lane, for: 3)
        #expect(budget.load(Self.lane) == (3, 3))
        flood[0].end.set()
        await flood[2].begun.wait()
        for call in flood + [other] { call.end.set() }
        for call in flood + [other] { #expect(await call.error.first(1) == [nil]) }
        #expect(budget.load(Self.lane) == (0, 0))
    }

    @Test("L21: a user's waiting calls have a limit that affects no other user")
    @BusActor
    func refusal() async {
        let budget = CallBudget()
        let flood = (0..<5).map { _ in Call(budget, for: 1) }
        await flood[1].begun.wait()
        let sixth = Call(budget, for: 1)
        #expect(await sixth.error.first(1) == [.limitsExceeded])
        let other = Call(budget, for: 2)
        await other.begun.wait()
        #expect(!budget.begin(Self.lane, for: 1) && budget.begin(Self.lane, for: 2))
        for call in flood + [other] { call.end.set() }
        for call in flood { _ = await call.error.first(1) }
    }

    @Test("L21: waiting users take turns, whatever their numbers of calls")
    @BusActor
    func turns() async {
        let budget = CallBudget()
        let order = Collected<UInt32>()
        for user in UInt32(1)...4 { #expect(budget.begin(Self.lane, for: user)) }
        let flood = (0..<3).map { _ in Call(budget, for: 5, order) }
        let others = [Call(budget, for: 6, order), Call(budget, for: 7, order)]
        while budget.load(Self.lane).waiting < 5 { await Task.yield() }
        for call in flood + others { call.end.set() }
        budget.end(Self.lane, for: 1)
        #expect(await order.first(5) == [5, 6, 7, 5, 5])
    }

    @Test("L21: a call canceled while it waits passes its place on")
    @BusActor
    func cancellation() async {
        let budget = CallBudget()
        let calls = (0..<4).map { _ in Call(budget, for: 1) }
        await calls[1].begun.wait()
        while budget.load(Self.lane).waiting < 2 { await Task.yield() }
        calls[2].task?.cancel()
        calls[0].end.set()
        #expect(await calls[2].error.first(1) == [.noReply])
        await calls[3].begun.wait()
        for call in calls { call.end.set() }
        for call in calls { _ = await call.error.first(1) }
        #expect(budget.load(Self.lane) == (0, 0))
    }
}

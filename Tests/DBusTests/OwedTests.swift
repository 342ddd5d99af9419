import Testing

@testable import DBus

/// What receivers owe who don't read, by the numbers alone: see ``UnreadTests``.
@Suite("What is owed", .runningLoop, .timeLimit(.minutes(10)))
struct OwedTests {
    @BusActor
    private static func receiver(of user: UserAllowance) -> Receiver {
        let receiver = Receiver(":1.1")
        receiver.user = user
        return receiver
    }

    @Test("L21: descriptors that a user leaves unread have a bound, and those of all have one")
    @BusActor
    func descriptors() {
        let user = UserAllowance()
        let (first, second) = (Self.receiver(of: user), Self.receiver(of: user))
        let ofUser = UnreadLimits.user.descriptors
        first.add(Amount(bytes: 1, descriptors: ofUser - 4))
        #expect(second.mayGet(Amount(bytes: 1, descriptors: 4), beside: user.unread))
        #expect(!second.mayGet(Amount(bytes: 1, descriptors: 5), beside: user.unread))
        let stranger = Self.receiver(of: UserAllowance())
        let all = Amount(bytes: 1, descriptors: UnreadLimits.most.descriptors - 4)
        #expect(stranger.mayGet(Amount(bytes: 1, descriptors: 4), beside: all))
        #expect(!stranger.mayGet(Amount(bytes: 1, descriptors: 5), beside: all))
        // What has none is sent all the same.
        #expect(stranger.mayGet(Amount(bytes: 1), beside: all + Amount(descriptors: 4)))
    }

    @Test("L21: the bus is asked what somebody has read whose user, or all together, owe much")
    @BusActor
    func doubts() {
        let user = UserAllowance()
        let (debtor, other) = (Self.receiver(of: user), Self.receiver(of: user))
        other.add(Amount(bytes: 1))
        debtor.add(Amount(bytes: UnreadLimits.user.bytes / 4 - 2))
        #expect(!other.isDoubtful(beside: user.unread))
        debtor.add(Amount(bytes: 1))
        #expect(other.isDoubtful(beside: user.unread))
        let stranger = Self.receiver(of: UserAllowance())
        stranger.add(Amount(bytes: 1))
        let much = UnreadLimits.allBytes / 4
        #expect(!stranger.isDoubtful(beside: Amount(bytes: much - 1)))
        #expect(stranger.isDoubtful(beside: Amount(bytes: much)))
        // Who has taken everything owes nothing.
        #expect(!Self.receiver(of: user).isDoubtful(beside: Amount(bytes: much)))
    }
}

import Glibc
import TestSupport

/// The source of random calls: a seed, and the service's answers to the connection.
struct Source: RandomNumberGenerator {
    private var random: SeededGenerator
    var given = Given()

    init(_ seed: UInt64) { random = SeededGenerator(seed) }

    mutating func next() -> UInt64 { random.next() }
}

/// Calls with random arguments from a seed, on connections with objects of their own.
///
/// Reports on standard error how many calls ended how. An error is no failure here.
final class AnyCalls {
    private let calls: [Call]
    private let address: String
    private var source: Source
    private var open: [Conversation] = []
    private var opened = 0
    private var made = 0
    private var ends: [String: Int] = [:]
    private var ended = 0

    init(_ calls: [Call], on address: String, seed: UInt64) {
        (self.calls, self.address, source) = (calls, address, Source(seed))
    }

    /// Runs a round over `connections` connections, and calls `attacks` once all calls were made.
    ///
    /// - Returns: Whether no call could be made.
    func turn(_ connections: Int, _ attacks: () -> Void) -> Bool {
        while open.count < connections {
            // With the pid, because items of the user's other neighbours are still stored.
            let name = "\(getpid())-\(opened % 16)"
            guard let one = Conversation(address, name, after: source.given) else { break }
            open.append(one)
            opened += 1
        }
        var isStuck = true
        for one in open {
            for end in one.hear() { count(end) }
            source.given = one.given
            var offer = RawClient.Offer.taken
            while one.hasRoom, offer == .taken, let call = calls.randomElement(using: &source) {
                let call = call.anyhow(&source)
                offer = make(call, on: one.client)
                guard offer == .taken else { break }
                one.hasCalled(call.path)
                made += 1
                isStuck = false
            }
            if offer == .closed { one.leave() }
        }
        open.removeAll(where: \.isOver)
        if made >= calls.count * connections, open.contains(where: \.given.isComplete) {
            attacks()
            made = .min
        }
        return isStuck
    }

    private func make(_ call: Call, on client: RawClient) -> RawClient.Offer {
        client.offer(
            to: "org.localauth.Authentication1",
            path: call.path,
            interface: call.interface,
            member: call.member,
            signature: call.signature,
            body: call.body
        )
    }

    /// Reports the ends each time that their number has quadrupled.
    private func count(_ end: String) {
        ends[String(end.split(separator: ".").last ?? ""), default: 0] += 1
        ended += 1
        guard ended & (ended - 1) == 0, ended.trailingZeroBitCount % 2 == 0 else { return }
        let told = ends.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
        HostileNeighbour.complain("\(ended) ended: \(told.joined(separator: ", "))")
    }
}

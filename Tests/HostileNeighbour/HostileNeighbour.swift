import Glibc
import TestSupport

/// A program that misbehaves on a bus, until it is killed.
///
/// The arguments are `HostileNeighbour SOCKET USER ATTACK`. Standard input lists the calls to make,
/// up to an empty line: `PATH INTERFACE MEMBER [SIGNATURE [TEXT]...]`. The program prints `attacks`
/// once it has made each call.
@main
enum HostileNeighbour {
    enum Attack: String {
        /// Makes more calls than can be answered, from several connections that read.
        case flood
        /// As `flood`, but without replies, so that the bus counts no call.
        case unanswered
        /// Adds sixteen descriptors to each call, so that the bus refuses the call.
        case descriptors
        /// Sends signals to the service.
        case signals
        /// Calls from connections that never read an answer.
        case unread
        /// Connects, calls and leaves, over and over.
        case dying
        /// As `dying`, but leaves once the service has begun with the calls.
        case leaving
        /// As `leaving`, with dictionaries at or above the limit of a call.
        case dictionaries
        /// Opens many connections at once, each with a large call before the bus identifies it.
        case strangers
        /// Makes calls with random arguments, on objects that the service gave the caller.
        case random
        /// Registers agents that leave as soon as they must show a prompt.
        case agents
    }

    static func main() {
        let words = CommandLine.arguments
        guard words.count == 4, let user = getpwnam(words[2]),
            let attack = Attack(rawValue: words[3])
        else {
            say("usage: HostileNeighbour SOCKET USER ATTACK")
            exit(64)
        }
        var calls: [Call] = []
        while let line = readLine(), !line.isEmpty {
            guard let call = Call(line) else {
                say("not a call: \(line)")
                exit(64)
            }
            calls.append(call)
        }
        let uid = user.pointee.pw_uid
        // The bus asks the kernel for the uid, so change it before connecting.
        guard uid == getuid() || (setgroups(0, nil) == 0 && setuid(uid) == 0) else {
            say("can't become \(uid)")
            exit(1)
        }
        signal(SIGPIPE, SIG_IGN)
        let address = "unix:path=" + words[1]
        switch attack {
        case .flood, .unanswered, .descriptors, .signals, .unread, .dying:
            run(attack, calls, on: address)
        case .dictionaries:
            let wide = calls.flatMap { call in WideDictionary.all.map(call.with) }
            repeatedly { Visitor.leaveCalls(wide, on: address) }
        case .leaving: repeatedly { Visitor.leaveCalls(calls, on: address) }
        case .strangers: repeatedly { Visitor.sendFirstCalls(calls, on: address) }
        case .random: callAnyhow(calls, on: address)
        case .agents: repeatedly { Visitor.leavePrompt(on: address) }
        }
    }

    /// The number of connections of a neighbour.
    private static let connections = 4

    /// Says `attacks` after as many successful visits as a neighbour has connections.
    private static func repeatedly(_ visit: () -> Bool) {
        var visits = 0
        while true {
            guard visit() else {
                // After a refusal, try again soon.
                poll(nil, 0, 10)
                continue
            }
            visits += 1
            if visits == connections { say("attacks") }
        }
    }

    /// The seed of random calls: `LOCALAUTH_SEED`, or a random number.
    private static let seed =
        getenv("LOCALAUTH_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 0...UInt64.max)

    private static func callAnyhow(_ calls: [Call], on address: String) {
        complain("HostileNeighbour: LOCALAUTH_SEED=\(seed)")
        let all = AnyCalls(calls, on: address, seed: seed)
        while true {
            let isStuck = all.turn(connections) { say("attacks") }
            // Wait for answers or for room.
            if isStuck { poll(nil, 0, 10) }
        }
    }

    private static func run(_ attack: Attack, _ calls: [Call], on address: String) {
        var open: [RawClient] = []
        var made = 0
        while true {
            while open.count < connections,
                let one = try? RawClient(address, isPatient: false)
            {
                open.append(one)
            }
            var isStuck = true
            open.removeAll { connection in
                var offer = RawClient.Offer.taken
                for call in calls where offer == .taken {
                    offer = make(call, attack, on: connection)
                    if offer == .taken { made += 1 }
                }
                if attack != .unread, attack != .dying { connection.drain() }
                isStuck = isStuck && offer != .taken
                return offer == .closed || attack == .dying
            }
            if made >= calls.count * connections {
                say("attacks")
                made = .min
            }
            // After a full socket or a refusal, try again soon.
            if isStuck { poll(nil, 0, 10) }
        }
    }

    private static func make(
        _ call: Call,
        _ attack: Attack,
        on connection: RawClient
    ) -> RawClient.Offer {
        // A signal's own arguments don't matter.
        let isSignal = attack == .signals
        return connection.offer(
            isSignal ? .signal : .call,
            to: "org.localauth.Authentication1",
            path: call.path,
            interface: call.interface,
            member: call.member,
            signature: isSignal ? "" : call.signature,
            body: isSignal ? [] : call.body,
            copies: attack == .descriptors ? 16 : 0,
            wantsAnswer: attack != .unanswered
        )
    }

    private static func say(_ line: String) { write(line, to: 1) }

    /// Prints to standard error, apart from the output that tests read.
    static func complain(_ line: String) { write(line, to: 2) }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}

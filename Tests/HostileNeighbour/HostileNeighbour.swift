import Glibc
import TestSupport

/// A program that misbehaves on a bus, until it is killed.
///
/// `HostileNeighbour SOCKET USER ATTACK`; the calls to make stand on its standard input, one a
/// line, up to an empty one: `PATH INTERFACE MEMBER [SIGNATURE [TEXT]...]`. It says `attacks` once
/// it has made each of them.
@main
enum HostileNeighbour {
    enum Attack: String {
        /// More calls than can be answered, from several connections that read.
        case flood
        /// The same, but that no call wants an answer, so that the bus counts none of them.
        case unanswered
        /// Each call carries sixteen descriptors, so that the bus refuses it.
        case descriptors
        /// Signals that name the service as their receiver.
        case signals
        /// Calls from connections that never read an answer.
        case unread
        /// Connections that call and leave, over and over.
        case dying
        /// The same, but that they leave once the service has begun with their calls.
        case leaving
        /// The same, and the dictionaries are as large as a call may have them, or larger.
        case dictionaries
        /// Many connections at once, each with a large call before anybody knows whose it is.
        case strangers
        /// Calls with any arguments, as a seed has them, on what the service gave the caller.
        case random
        /// Agents that leave as soon as they are to show a prompt.
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
        // Its own uid by then: the bus asks the kernel.
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

    /// As many connections as one neighbour has at a time.
    private static let connections = 4

    /// Says `attacks` once a visit has gone as it should so often.
    private static func repeatedly(_ visit: () -> Bool) {
        var visits = 0
        while true {
            guard visit() else {
                // Whoever is shut out tries again soon.
                poll(nil, 0, 10)
                continue
            }
            visits += 1
            if visits == connections { say("attacks") }
        }
    }

    /// What random calls go by: `LOCALAUTH_SEED`, else another one each time.
    private static let seed =
        getenv("LOCALAUTH_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 0...UInt64.max)

    private static func callAnyhow(_ calls: [Call], on address: String) {
        complain("HostileNeighbour: LOCALAUTH_SEED=\(seed)")
        let all = AnyCalls(calls, on: address, seed: seed)
        while true {
            let isStuck = all.turn(connections) { say("attacks") }
            // Answers are awaited, or room.
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
            // Whoever is held up, or shut out, tries again soon.
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

    /// Beside what others read.
    static func complain(_ line: String) { write(line, to: 2) }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}

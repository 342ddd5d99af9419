import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

@testable import localauth_passcode

/// The verifier as a real process, with real PAM.
@Suite(.timeLimit(.minutes(1)))
struct PasscodeTests {
    init() { EventLoop.shared.startThread() }

    @Test("The right passcode is right and another one is wrong")
    func rightAndWrong() async throws {
        try await PasscodeBench.with { bench in
            try expect(try await bench.verify("2468"), "2468 to be right")
            try expect(try await !bench.verify("1357"), "1357 to be wrong")
            try expect(try await bench.verify("2468"), "2468 to be right")
        }
    }

    @Test("Without a packet there is no attempt")
    func noPacket() async throws {
        try await PasscodeBench.with { bench in
            try await expectError(.passcodeCanceled, of: "end of file") {
                _ = try await bench.verify(nil as [UInt8]?)
            }
            let (agent, socket) = try PasscodeBench.pair()
            try await expectError(.passcodeCanceled, of: "silence") {
                _ = try await bench.verifier.verify(uid: bench.user, socket: socket)
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test("What is too long or has a NUL in it is no attempt")
    func badPacket() async throws {
        try await PasscodeBench.with { bench in
            for packet in [Array("2468\0".utf8), [UInt8](repeating: 0x32, count: 4097)] {
                try await expectError(.passcodeFailed, of: "\(packet.count) bytes") {
                    _ = try await bench.verify(packet)
                }
            }
            let longest = [UInt8](repeating: 0x32, count: 4096)
            try expect(try await !bench.verify(longest), "the longest packet to be wrong")
        }
    }

    @Test("A failure of PAM is an error, never a wrong passcode")
    func brokenModule() async throws {
        try await PasscodeBench.with(service: "localauth-broken") { bench in
            try await expectError(.passcodeFailed, of: "a missing module") {
                _ = try await bench.verify("2468")
            }
        }
        try await PasscodeBench.with(service: "no-such-service") { bench in
            try await expectError(.passcodeFailed, of: "a missing service") {
                _ = try await bench.verify("2468")
            }
        }
    }

    @Test("Only the daemon may ask")
    func strangers() async throws {
        try await PasscodeBench.with { bench in
            let stranger = PasscodeBench.proxy(
                try bench.bus.connect(),
                bench.verifier.destination
            )
            let (_, socket) = try PasscodeBench.pair()
            try await expectError(.accessDenied, of: "IsSet") {
                _ = try await stranger.isSet(uid: bench.user)
            }
            try await expectError(.accessDenied, of: "Verify") {
                _ = try await stranger.verify(uid: bench.user, socket: socket)
            }
        }
    }

    @Test("Another kind of descriptor is refused")
    func wrongDescriptors() async throws {
        try await PasscodeBench.with { bench in
            let file = OwnedDescriptor(adopting: open("/dev/null", O_RDONLY))
            let stream = try PasscodeBench.pair(SOCK_STREAM)
            for descriptor in [file, stream.daemon] {
                try await expectError(.invalidArgs, of: "Verify") {
                    _ = try await bench.verifier.verify(uid: bench.user, socket: descriptor)
                }
            }
        }
    }

    @Test("A uid that is no user is an error")
    func unknownUsers() async throws {
        try await PasscodeBench.with { bench in
            try await expectError(.invalidArgs, of: "IsSet") {
                _ = try await bench.verifier.isSet(uid: .max)
            }
            try await expectError(.passcodeFailed, of: "IsSet") {
                _ = try await bench.verifier.isSet(uid: 4_000_000_001)
            }
            try await expectError(.passcodeFailed, of: "Verify") {
                _ = try await bench.verify(Array("2468".utf8), uid: 4_000_000_001)
            }
        }
    }

    @Test(
        "Whether a passcode is set can be laid down",
        arguments: ["always": true, "never": false]
    )
    func setting(_ word: String, _ isSet: Bool) async throws {
        try await PasscodeBench.with(["--passcode-set", word]) { bench in
            try expect(try await bench.verifier.isSet(uid: bench.user) == isSet, "\(isSet)")
        }
    }

    @Test("The shadow field says whether there is a passcode")
    func shadowFields() {
        #expect(PasscodeSetting.isPasscode(shadowField: "$y$j9T$salt$hash"))
        #expect(PasscodeSetting.isPasscode(shadowField: nil))
        for field in ["", "!", "!!", "*", "!$y$j9T$salt$hash"] {
            #expect(!PasscodeSetting.isPasscode(shadowField: field))
        }
    }

    @Test("R69: A shadow field without a hash has lost its passcode; a locked one keeps it")
    func removedFields() {
        for field in ["", "!", "!!", "*", "!*"] {
            #expect(PasscodeSetting.isRemoved(shadowField: field), "'\(field)'")
        }
        for field in ["!$y$j9T$salt$hash", "!!$6$salt$hash", "$y$j9T$salt$hash", "!ab0123456789c"] {
            #expect(!PasscodeSetting.isRemoved(shadowField: field), "'\(field)'")
        }
        #expect(!PasscodeSetting.isRemoved(shadowField: nil))
    }

    @Test("Checks that hang are bounded, and end with the verifier")
    func hanging() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            var agents: [OwnedDescriptor] = []
            for _ in 0..<8 {
                let (agent, socket) = try PasscodeBench.pair()
                send(agent.rawValue, "2468", 4, 0)
                agents.append(agent)
                onLoop { _ = try? await bench.verifier.verify(uid: bench.user, socket: socket) }
            }
            try await expectError(.limitsExceeded, of: "a ninth check") {
                _ = try await bench.verify("2468")
            }
            _ = try await bench.hangingCheck()
            bench.program.signal(SIGTERM)
            let status = try await bench.program.exitStatus(within: .milliseconds(1500))
            #expect(status == 0)
            withExtendedLifetime(agents) {}
        }
    }

    @Test("A check ends when the daemon leaves the bus, and the verifier serves the next one")
    func daemonLeaves() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            let (agent, socket) = try PasscodeBench.pair()
            send(agent.rawValue, "2468", 4, 0)
            onLoop { _ = try? await bench.verifier.verify(uid: bench.user, socket: socket) }
            let check = try await bench.hangingCheck()
            bench.daemon.close()
            let next = try bench.bus.connect()
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Authentication1", false)
            try next.requestName("org.localauth.Authentication1")
            let verifier = PasscodeBench.proxy(next, bench.verifier.destination)
            _ = try await verifier.isSet(uid: bench.user)
            while kill(check, 0) == 0 { await pause(.milliseconds(10)) }
            withExtendedLifetime(agent) {}
        }
    }
}

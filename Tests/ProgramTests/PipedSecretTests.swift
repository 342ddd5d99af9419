import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Secrets that come through a pipe, from languages that can't make a memfd.
@Suite("Piped secrets", .timeLimit(.minutes(10)))
struct PipedSecretTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    private enum AccessFlags {
        static let applicationPassword: [String: Variant] = ["flags": .uint64(1 << 31)]
    }

    @BusActor
    private func add(
        _ service: String,
        _ secret: OwnedDescriptor,
        to daemon: TestDaemon,
        control: [String: Variant] = [:],
        context: Context1Proxy? = nil,
        on connection: Connection? = nil
    ) async throws(DBusError) -> String {
        try await daemon.keychain(on: connection)
            .add(
                attributes: ["class": .string("genp"), "svce": .string(service)],
                secret: secret,
                accessControl: control,
                options: context.map { ["context": .objectPath($0.path)] } ?? [:]
            )
    }

    @BusActor
    private func read(
        _ id: String,
        from daemon: TestDaemon,
        context: Context1Proxy? = nil
    ) async throws -> [UInt8] {
        let pair = try SocketPair.make()
        try await daemon.keychain()
            .read(
                id: id,
                receiver: pair.theirs,
                reason: "read it",
                options: context.map { ["context": .objectPath($0.path)] } ?? [:]
            )
        var bytes = [UInt8](repeating: 0, count: 70_000)
        let count = recv(pair.ours.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return Array(bytes.prefix(max(count, 0)))
    }

    @BusActor
    private func context(of daemon: TestDaemon) async throws -> Context1Proxy {
        let path = try await daemon.manager.createContext(properties: [:])
        return Context1Proxy(daemon.client, destination: daemon.owner, path: path)
    }

    @Test("Add, SetSecret and SetCredential take what a pipe brings until it ends, up to 64 KiB")
    @BusActor func taken() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let most = [UInt8](repeating: 7, count: 65_536)
            let whole = try await add("whole", try SecretPipe.ended(most), to: daemon)
            #expect(try await read(whole, from: daemon) == most)
            let empty = try await add("empty", try SecretPipe.ended([]), to: daemon)
            #expect(try await read(empty, from: daemon).isEmpty)
            try await daemon.keychain()
                .setSecret(id: whole, secret: try SecretPipe.ended("new"), options: [:])
            #expect(try await read(whole, from: daemon) == Array("new".utf8))

            // In pieces: the service has the call when the second is written.
            let pipe = try SecretPipe()
            let reading = pipe.reading
            pipe.write("first")
            let added = Witness<Result<String, DBusError>>()
            onLoop {
                do throws(DBusError) {
                    added.record(.success(try await add("pieces", reading, to: daemon)))
                } catch {
                    added.record(.failure(error))
                }
            }
            _ = try await daemon.manager.canEvaluate(policy: 2)
            #expect(added.seen.isEmpty)
            pipe.write(" second")
            pipe.close()
            let id = try await added.first("the item") { _ in true }.get()
            #expect(try await read(id, from: daemon) == Array("first second".utf8))

            let (piped, sealing) = (try await context(of: daemon), try await context(of: daemon))
            #expect(
                try await piped.setCredential(
                    credentialType: 0,
                    secret: try SecretPipe.ended("own password")
                )
            )
            let locked = try await add(
                "locked",
                try SecretPipe.ended("inside"),
                to: daemon,
                control: AccessFlags.applicationPassword,
                context: piped
            )
            #expect(
                try await sealing.setCredential(credentialType: 0, secret: sealed("own password"))
            )
            #expect(
                try await read(locked, from: daemon, context: sealing) == Array("inside".utf8)
            )
        }
    }

    @Test("Nothing of a password that came through a pipe stays in memory when it is cleared")
    @BusActor func cleared() async throws {
        try await PrivateBus.run { bus in
            // As in its units.
            let daemon = try await TestDaemon(on: bus, environment: ["LD_BIND_NOW": "1"])
            let secret = "piped 7f3a9c1e secret 5b2d8064 of 91e6c3aa nobody's"
            // With several, what one has left is not all used anew for another.
            var contexts: [Context1Proxy] = []
            for _ in 0..<8 {
                let context = try await context(of: daemon)
                let text = try SecretPipe.ended(String(repeating: secret, count: 20))
                #expect(try await context.setCredential(credentialType: 0, secret: text))
                contexts.append(context)
            }
            let pid = daemon.process.pid
            // What is kept, and no other copy.
            #expect(try occurrences(of: secret, in: pid) == 8 * 20)
            for context in contexts {
                #expect(try await context.clearCredential(credentialType: 0))
            }
            try await eventually("the passwords to be gone") {
                try occurrences(of: secret, in: pid) == 0
            }
        }
    }

    @Test("L21: a pipe that brings more than 64 KiB is refused without waiting for its end")
    @BusActor func endless() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let long = try SecretPipe.ended([UInt8](repeating: 1, count: 65_537))
            try await expectError(.limitsExceeded, of: "a long pipe") {
                _ = try await add("long", long, to: daemon)
            }
            let pipe = try SecretPipe()
            let source = try bus.run([
                "/bin/sh", "-c", "exec cat /dev/zero >/proc/\(getpid())/fd/\(number(pipe.writing))",
            ])
            try await expectError(.limitsExceeded, of: "an endless pipe") {
                _ = try await add("endless", pipe.reading, to: daemon)
            }
            #expect(try await daemon.keychain().search(query: [:], options: [:]).isEmpty)
            await source.end()
        }
    }

    private func number(_ descriptor: OwnedDescriptor?) -> Int32 { descriptor?.rawValue ?? -1 }

    @Test("L21: a pipe that never ends costs its own call alone, and its user 64 at most")
    @BusActor func unfinished() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let context = try await context(of: daemon)
            // The files that the first item needs stay open.
            _ = try await add("before", try SecretPipe.ended("word"), to: daemon)
            let before = try daemon.process.descriptors()
            let pipe = try SecretPipe()
            pipe.write("begun")
            let other = try bus.connect()
            @BusActor func begin() async throws -> Witness<DBusError.Name> {
                let refusals = Witness<DBusError.Name>()
                for number in 0..<66 {
                    onLoop {
                        do throws(DBusError) {
                            if number.isMultiple(of: 2) {
                                _ = try await add("\(number)", pipe.reading, to: daemon, on: other)
                            } else {
                                _ = try await context.setCredential(
                                    credentialType: 0,
                                    secret: pipe.reading
                                )
                            }
                        } catch {
                            refusals.record(error.name)
                        }
                    }
                    // What waits to be served is bounded, too, and isn't tested here.
                    guard number % 4 == 3 else { continue }
                    for connection in [other, context.connection] {
                        _ = try await connection.call(
                            to: TestDaemon.name,
                            path: TestDaemon.root,
                            interface: "org.freedesktop.DBus.Peer",
                            member: "Ping"
                        )
                    }
                }
                return refusals
            }
            var (start, refusals) = (ContinuousClock.now, try await begin())
            // On a busy machine the first may be given up before the last has come: once more.
            for _ in 0..<4 {
                let limit = Duration.seconds(30)
                let first = try await refusals.first("a refusal", within: limit) { _ in true }
                guard first != .limitsExceeded else { break }
                try await eventually("each to be refused", within: limit) {
                    refusals.seen.count == 66
                }
                (start, refusals) = (.now, try await begin())
            }
            // One has its descriptor from the user's share, and so has no other.
            _ = try await refusals.first("one too many") { $0 == .limitsExceeded }
            // Each is open twice; what is refused may not be closed yet.
            #expect(try daemon.process.descriptors() <= before + 2 * 64 + 4)
            // Nobody waits for them: this is answered first.
            _ = try await daemon.manager.canEvaluate(policy: 2)
            let isSlow = ContinuousClock.now - start > .seconds(4)
            #expect(isSlow || !refusals.seen.contains(.invalidArgs))
            try await eventually("each to be given up") { refusals.seen.count == 66 }
            #expect(refusals.seen.count { $0 == .invalidArgs } == 64)
            #expect(try await !context.isCredentialSet(credentialType: 0))
            try await eventually("the pipes to be closed") {
                _ = try await daemon.manager.canEvaluate(policy: 2)
                return try daemon.process.descriptors() <= before + 1
            }
            _ = try await add("after", try SecretPipe.ended("word"), to: daemon)
        }
    }

    @Test("A context that goes while its password is in a pipe takes none, and holds nothing of it")
    @BusActor func released() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            for isReleased in [true, false] {
                let context = try await context(of: daemon)
                let pipe = try SecretPipe()
                let reading = pipe.reading
                let set = Witness<Bool?>()
                onLoop {
                    set.record(try? await context.setCredential(credentialType: 0, secret: reading))
                }
                _ = try await daemon.manager.canEvaluate(policy: 2)
                if isReleased {
                    try await context.release()
                } else {
                    try await context.invalidate()
                }
                pipe.write("late")
                pipe.close()
                #expect(try await set.first("an answer") { _ in true } == false)
            }
        }
    }

    @Test("A secret is in sealed memory or comes through a pipe, and is taken from nothing else")
    @BusActor func kinds() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let pipe = try SecretPipe()
            let reading = "/proc/self/fd/\(pipe.reading.rawValue)"
            let fifo = bus.folder + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            let pathOnly: Int32 = 0o10000000
            let ended = try SecretPipe.ended("word")
            let wrong = [
                "writing end": pipe.writing,
                "both ends": OwnedDescriptor.open(reading, O_RDWR),
                "path alone": OwnedDescriptor.open(reading, pathOnly),
                // There would be something to read.
                "path of an ended one": OwnedDescriptor.open(
                    "/proc/self/fd/\(ended.rawValue)",
                    pathOnly
                ),
                "fifo": OwnedDescriptor.open(fifo, O_RDONLY | O_NONBLOCK),
                "file": OwnedDescriptor.open("/proc/version", O_RDONLY),
                "device": OwnedDescriptor.open("/dev/zero", O_RDONLY),
                "folder": OwnedDescriptor.open("/", O_RDONLY),
                "socket": try SocketPair.make().theirs,
                "memory that isn't sealed": try sealed("word", isSealed: false),
            ]
            let context = try await context(of: daemon)
            for (kind, descriptor) in wrong {
                let descriptor = try #require(descriptor, "\(kind)")
                try await expectError(.invalidArgs, of: kind) {
                    _ = try await add(kind, descriptor, to: daemon)
                }
                try await expectError(.invalidArgs, of: kind) {
                    _ = try await context.setCredential(credentialType: 0, secret: descriptor)
                }
            }
        }
    }

    @Test("L18: the system bus has no secrets in pipes, and the refusal says what to do")
    @BusActor func system() async throws {
        try await PrivateBus.run { bus in
            let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            let state = bus.folder + "/state"
            mkdir(state, 0o700)
            _ = try bus.run(
                ["localauthd", "--bus", "system", "--state-directory", state],
                environment: environment
            )
            let owner = try #require(try await bus.waitForOwner(of: TestDaemon.name))
            let client = try bus.connect()
            let keychain = Keychain1Proxy(
                client,
                destination: owner,
                path: ObjectPath(trusted: "/org/localauth/Keychain1")
            )
            let attributes: [String: Variant] = [
                "class": .string("genp"), "svce": .string("system"),
            ]
            let pipe = try SecretPipe.ended("word")
            let refusal = await #expect(throws: DBusError.self) {
                try await keychain.add(
                    attributes: attributes,
                    secret: pipe,
                    accessControl: [:],
                    options: [:]
                )
            }
            #expect(refusal?.name == .invalidArgs)
            #expect(refusal?.message.contains("keychain add --secret-file -") == true)
            let manager = Authentication1Proxy(client, destination: owner, path: TestDaemon.root)
            let path = try await manager.createContext(properties: [:])
            let context = Context1Proxy(client, destination: owner, path: path)
            try await expectError(.invalidArgs, of: "a password in a pipe") {
                _ = try await context.setCredential(
                    credentialType: 0,
                    secret: try SecretPipe.ended("word")
                )
            }
            // What it says takes one: the pipe stays on this side.
            let added = try await ChildProcess(
                [
                    "/bin/sh", "-c",
                    "printf word | \"$1\" keychain add --bus system --service s --secret-file -",
                    "sh", ChildProcess.folder + "/localauthctl",
                ],
                environment: environment
            )
            .ended(within: .seconds(60))
            #expect(added.status == 0, "\(added.errors)")
            #expect(try await keychain.search(query: [:], options: [:]).count == 1)
        }
    }
}

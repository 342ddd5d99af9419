import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import Sealing
import TestSupport
import Testing

/// ReadMatching on the real daemon: a search and secrets in one call, and never a prompt.
@Suite("Keychain items that a search reads", .timeLimit(.minutes(10)))
struct KeychainMatchTests {
    /// Returns secrets by service; nil for an item without a secret.
    @BusActor
    private static func read(
        _ keychain: KeychainClient,
        _ query: [String: Variant] = [:],
        context: Context1Proxy? = nil,
        _ options: [String: Variant] = [:]
    ) async throws -> [String: String?] {
        let items = try await keychain.proxy.readMatching(
            query: query,
            options: KeychainClient.options(context, options)
        )
        return items.reduce(into: [:]) { found, item in
            let secret = item["secret"]?.asBytes.map { String(decoding: $0, as: UTF8.self) }
            found[item["svce"]?.asString ?? "key"] = .some(secret)
        }
    }

    @Test("R66: secrets of free items come with the search, no other secret and no prompt")
    func free() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            _ = try await keychain.add("a", "first")
            _ = try await keychain.add("b", "")
            _ = try await keychain.add("guarded", flags: .biometryAny)
            _ = try await keychain.add("current", flags: .biometryCurrentSet)
            _ = try await keychain.add("passcode", accessible: "akpu")
            let context = try await bench.context(on: person.connection)
            try await context.setPassword("pw")
            _ = try await keychain.add("locked", flags: .applicationPassword, context: context)
            _ = try await KeychainKey(keychain)
            let found = try await Self.read(keychain)
            #expect(
                found == [
                    "a": "first", "b": "", "guarded": nil, "current": nil, "passcode": nil,
                    "locked": nil, "key": nil,
                ]
            )
            let searched = try await keychain.proxy.search(query: [:], options: [:])
            let read = try await keychain.proxy.readMatching(query: [:], options: [:])
            #expect(read.map { $0.filter { $0.key != "secret" } } == searched)
            let skipping: [String: Variant] = ["skip-authenticated": .bool(true)]
            let shown = try await Self.read(keychain, [:], skipping)
            #expect(Set(shown.keys) == ["a", "b", "passcode", "key"])
            #expect(try await Self.read(keychain, ["svce": .string("none")]).isEmpty)
            if getuid() == 0 { #expect(try await Self.read(bench.keychain()).isEmpty) }
            // An item of an earlier enrolment is not found either.
            _ = sensor.add(for: person.peer.uid, announcing: false)
            #expect(try await Self.read(keychain).keys.contains("current") == false)
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("L32: secrets are sealed to the caller's key, a bad key is Parameter")
    func sealed() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            _ = try await keychain.add("a", "first")
            let key = SealingKey()
            let items = try await keychain.proxy.readMatching(
                query: [:],
                options: ["seal-to": .bytes(key.publicKey)]
            )
            let sealed = try #require(items.first?["secret"]?.asBytes)
            let name = keychain.proxy.connection.uniqueName
            let secret = key.open(sealed, for: .keychain, of: name)
            #expect(secret?.use { $0 } == Array("first".utf8))
            #expect(key.open(sealed, for: .keychain, of: ":1.0") == nil)
            for bad in [[UInt8](repeating: 0, count: 32), [1]] {
                await expectName(.keychainParameter) {
                    _ = try await Self.read(keychain, [:], ["seal-to": .bytes(bad)])
                }
            }
            await expectName(.invalidArgs) {
                _ = try await Self.read(keychain, [:], ["secrets": .bool(true)])
            }
        }
    }

    @Test("The first items have their secrets, at most sixteen")
    func count() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            for number in 10..<30 { _ = try await keychain.add("\(number)", "s\(number)") }
            let counts: [(wanted: UInt32?, expected: Int)] = [
                (0, 0), (1, 1), (16, 16), (1000, 16), (nil, 16),
            ]
            for (wanted, expected) in counts {
                let options = wanted.map { ["secrets": Variant.uint32($0)] } ?? [:]
                let items = try await keychain.proxy.readMatching(query: [:], options: options)
                #expect(items.count == 20)
                let secrets = items.map { $0["secret"]?.asBytes }
                #expect(secrets.prefix { $0 != nil }.count == expected)
                #expect(secrets.count { $0 != nil } == expected)
                if expected > 0 { #expect(secrets[0] == Array("s10".utf8)) }
            }
        }
    }

    @Test("R35, L11b: an evaluated context opens the single match while the proof counts")
    func evaluated() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            _ = try await keychain.add("one", flags: .biometryAny)
            _ = try await keychain.add("two", flags: .biometryAny)
            let one: [String: Variant] = ["svce": .string("one")]
            let fresh = try await bench.context(on: person.connection)
            #expect(try await Self.read(keychain, one, context: fresh) == ["one": nil])
            @BusActor func evaluate() async throws -> Context1Proxy {
                let context = try await bench.context(on: person.connection)
                let count = sensor.operations.seen.count
                let call = try context.evaluateStream(policy: 1, reason: "a", options: [:])
                try await sensor.operation(count).succeed(template)
                _ = try await call.reply()
                return context
            }
            let context = try await evaluate()
            #expect(try await Self.read(keychain, one, context: context) == ["one": "secret"])
            #expect(try await Self.read(keychain, one) == ["one": nil])
            let none: [String: Variant] = ["secrets": .uint32(0)]
            #expect(try await Self.read(keychain, one, context: context, none) == ["one": nil])
            // A call costs at most one evaluation.
            let both = try await Self.read(keychain, context: context)
            #expect(both == ["one": nil, "two": nil])
            // Another connection's context is no proof.
            await expectName(.unknownObject) {
                _ = try await Self.read(bench.keychain(), one, context: context)
            }
            // A changed enrolment ends the proof.
            _ = sensor.add(for: person.peer.uid, announcing: false)
            #expect(try await Self.read(keychain, one, context: context) == ["one": nil])
            let second = try await evaluate()
            #expect(try await Self.read(keychain, one, context: second) == ["one": "secret"])
            try await second.invalidate()
            #expect(try await Self.read(keychain, one, context: second) == ["one": nil])
            #expect(person.shownPrompts == 2)
        }
    }
}

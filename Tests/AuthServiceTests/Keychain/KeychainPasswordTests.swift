import AuthEngine
import DBus
import LocalAuthBus
import TestSupport
import Testing

/// Items that an app's own password guards, tested on the real daemon.
@Suite("Application passwords of keychain items", .timeLimit(.minutes(10)))
struct KeychainPasswordTests {
    /// Creates a context with a lent password.
    @BusActor
    private static func context(
        _ bench: ServiceBench,
        _ person: Person,
        _ password: String
    ) async throws -> Context1Proxy {
        let context = try await bench.context(on: person.connection)
        let isSet = try await context.setPassword(password)
        try expect(isSet, "a context that takes a credential")
        return context
    }

    @Test("R37, R64: a lent password reads without a prompt, a wrong one is AuthFailed")
    func lent() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            await expectName(.keychainParameter) {
                _ = try await keychain.add("locked", flags: .applicationPassword)
            }
            let right = try await Self.context(bench, person, "right")
            let wrong = try await Self.context(bench, person, "wrong")
            let id = try await keychain.add("locked", flags: .applicationPassword, context: right)
            #expect(try await keychain.read(id, context: right) == "secret")
            await expectName(.keychainAuthFailed) {
                _ = try await keychain.read(id, context: wrong)
            }
            for context in [wrong, nil] {
                await expectName(.keychainAuthFailed) {
                    try await keychain.proxy.setSecret(
                        id: id,
                        secret: Array("other".utf8),
                        options: KeychainClient.options(context)
                    )
                }
            }
            try await keychain.proxy.setSecret(
                id: id,
                secret: Array("second".utf8),
                options: KeychainClient.options(right)
            )
            #expect(try await keychain.read(id, context: right) == "second")
            // An item without the flag ignores the context's password.
            let free = try await keychain.add("free", context: right)
            try await keychain.proxy.setSecret(
                id: free,
                secret: Array("secret".utf8),
                options: KeychainClient.options(wrong)
            )
            #expect(try await keychain.read(free) == "secret")
            #expect(try await keychain.read(free, context: wrong) == "secret")
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("R37, R64: a missing password is prompted for once, and kept if correct")
    func typed() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let right = try await Self.context(bench, person, "right ß")
            let id = try await keychain.add("locked", flags: .applicationPassword, context: right)
            let context = try await bench.context(on: person.connection)
            let failing = keychain.reading(id, context: context)
            let prompt = try await person.prompt()
            #expect(prompt.details["stage"] == .string("application-password"))
            try await person.type("wrong")
            await expectName(.keychainAuthFailed) { _ = try await failing.value() }
            #expect(try await !context.isCredentialSet(credentialType: 0))

            let call = keychain.reading(id, context: context)
            _ = try await person.prompt(1)
            try await person.type("right ß")
            #expect(try await call.value() == "secret")
            #expect(try await context.isCredentialSet(credentialType: 0))
            #expect(try await keychain.read(id, context: context) == "secret")
            #expect(person.shownPrompts == 2)
            // The verifier of login passwords never got it.
            #expect(bench.verifier.verified.seen.isEmpty)

            let canceled = keychain.reading(id)
            _ = try await person.prompt(2)
            try await person.cancel(on: bench)
            await expectName(.keychainUserCanceled) { _ = try await canceled.value() }
        }
    }

    @Test("R64: one prompt asks for biometry, then the password, and a wrong one opens nothing")
    func both() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let right = try await Self.context(bench, person, "right")
            let id = try await keychain.add(
                "locked",
                flags: [.biometryAny, .applicationPassword],
                context: right
            )
            for (number, word) in ["right", "wrong"].enumerated() {
                let call = keychain.reading(id)
                try await sensor.operation(number).succeed(template)
                try await person.askedForPassword(number + 1)
                #expect(call.isPending)
                try await person.type(word)
                if word == "right" {
                    #expect(try await call.value() == "secret")
                } else {
                    await expectName(.keychainAuthFailed) { _ = try await call.value() }
                }
            }
            let canceled = keychain.reading(id)
            try await sensor.operation(2).succeed(template)
            try await person.askedForPassword(3)
            try await person.cancel(on: bench)
            await expectName(.keychainUserCanceled) { _ = try await canceled.value() }
            #expect(person.shownPrompts == 3)
            // With a lent password, the prompt asks for biometry only.
            let lent = keychain.reading(id, context: right)
            try await sensor.operation(3).succeed(template)
            #expect(try await lent.value() == "secret")
            #expect(try await keychain.read(id, context: right) == "secret")
            #expect(person.shownPrompts == 4)
            // A wrong lent password is not asked for again.
            let wrong = try await Self.context(bench, person, "wrong")
            let refused = keychain.reading(id, context: wrong)
            try await sensor.operation(4).succeed(template)
            await expectName(.keychainAuthFailed) { _ = try await refused.value() }
        }
    }

    @Test("R64: an app's password over 64 KiB is refused, and the prompt waits for another")
    func long() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let most = String(repeating: "a", count: 65_536)
            let right = try await Self.context(bench, person, most)
            let id = try await keychain.add("locked", flags: .applicationPassword, context: right)
            let call = keychain.reading(id)
            let prompt = try await person.prompt()
            await expectName(.limitsExceeded) {
                try await person.submit(password: most + "a", into: prompt)
            }
            try await person.submit(password: most, into: prompt)
            #expect(try await call.value() == "secret")
        }
    }

    @Test("R71: EvaluateAccessControl asks for the password, which Add and Read then use")
    func evaluated() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let context = try await bench.context(on: person.connection)
            let call = try context.evaluateAccessControlStream(
                accessControl: KeychainClient.control(.applicationPassword),
                operation: AccessOperation.createItem.rawValue,
                reason: "test",
                options: [:]
            )
            let prompt = try await person.prompt()
            #expect(prompt.details["stage"] == .string("application-password"))
            try await person.type("typed")
            #expect(try await call.reply()["mechanism"] == .string("context"))
            let id = try await keychain.add("locked", flags: .applicationPassword, context: context)
            #expect(try await keychain.read(id, context: context) == "secret")
            #expect(person.shownPrompts == 1)
            let other = try await Self.context(bench, person, "typed")
            #expect(try await keychain.read(id, context: other) == "secret")
        }
    }

    @Test("R37, R71: Read asks again for a wrong password that was typed ahead")
    func typedAhead() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let right = try await Self.context(bench, person, "right")
            let id = try await keychain.add("locked", flags: .applicationPassword, context: right)
            let context = try await bench.context(on: person.connection)
            try await context.ask(person, typing: "wrong")
            await expectName(.keychainAuthFailed) {
                _ = try await keychain.read(id, context: context)
            }
            #expect(try await !context.isCredentialSet(credentialType: 0))
            let again = keychain.reading(id, context: context)
            _ = try await person.prompt(1)
            try await person.type("right")
            #expect(try await again.value() == "secret")
            // A lent password stays until the app sets another.
            try await context.setPassword("wrong")
            for _ in 0..<2 {
                await expectName(.keychainAuthFailed) {
                    _ = try await keychain.read(id, context: context)
                }
            }
            #expect(person.shownPrompts == 2)
        }
    }
}

import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Keys on the bus, checked against openssl and Python's cryptography.
@Suite("Keychain keys on the bus", .timeLimit(.minutes(10)))
struct KeychainKeyTests {
    /// Returns a tool's output without blocking the loop.
    @concurrent
    private static func printed(
        _ path: String,
        _ arguments: [String],
        _ input: [UInt8] = []
    ) async throws -> [UInt8] {
        try ChildProcess.run([path] + arguments, input: input).bytes
    }

    /// Whether openssl accepts a signature of the key.
    @BusActor
    private static func verifies(
        _ signature: [UInt8],
        of message: [UInt8],
        by point: [UInt8],
        in folder: String
    ) async throws -> Bool {
        // The DER header of a P-256 key, then the point.
        let header: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        for (name, bytes) in [("key.der", header + point), ("signature", signature)] {
            let file = creat(folder + "/" + name, 0o600)
            try expect(write(file, bytes, bytes.count) == bytes.count, "\(name) to be written")
            close(file)
        }
        let said = try await printed(
            "/usr/bin/openssl",
            [
                "dgst", "-sha256", "-keyform", "DER", "-verify", folder + "/key.der",
                "-signature", folder + "/signature",
            ],
            message
        )
        return String(decoding: said, as: UTF8.self) == "Verified OK\n"
    }

    @Test("openssl accepts a signature for its message or digest only")
    func signature() async throws {
        try await ServiceBench.run { bench in
            let key = try await KeychainKey(bench.keychain())
            #expect(key.point.count == 65 && key.point.first == 4)
            let folder = bench.bus.folder
            let message = Array("to be signed".utf8)
            let signature = try await key.sign(message).value()
            #expect(
                try await Self.verifies(signature, of: message, by: key.point, in: folder)
            )
            #expect(
                try await !Self.verifies(signature, of: message + [0], by: key.point, in: folder)
            )
            let digest = try await Self.printed(
                "/usr/bin/openssl",
                ["dgst", "-sha256", "-binary"],
                message
            )
            let other = try await key.sign(digest, "ecdsa-digest-sha256").value()
            #expect(try await Self.verifies(other, of: message, by: key.point, in: folder))
            await expectName(.keychainParameter) {
                _ = try await key.sign(message, "ecdsa-digest-sha256").value()
            }
            await expectName(.keychainParameter) { _ = try await key.sign(message, "rsa").value() }
            let found = try await key.keychain.proxy.search(
                query: ["class": .string("keys"), "atag": .bytes([1])],
                options: [:]
            )
            #expect(found.first?["public-key"] == .bytes(key.point))
        }
    }

    @Test("Data encrypted elsewhere is decrypted, and both sides agree on a secret")
    func decryptionAndExchange() async throws {
        try await ServiceBench.run { bench in
            let key = try await KeychainKey(bench.keychain())
            let script = """
                import sys
                from cryptography.hazmat.primitives import hashes, serialization
                from cryptography.hazmat.primitives.asymmetric import ec
                from cryptography.hazmat.primitives.ciphers.aead import AESGCM
                from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
                point = ec.EllipticCurvePublicKey.from_encoded_point(
                    ec.SECP256R1(), sys.stdin.buffer.read())
                other = ec.generate_private_key(ec.SECP256R1())
                encoded = other.public_key().public_bytes(
                    serialization.Encoding.X962,
                    serialization.PublicFormat.UncompressedPoint)
                shared = other.exchange(ec.ECDH(), point)
                derived = X963KDF(hashes.SHA256(), 32, encoded).derive(shared)
                box = AESGCM(derived[:16]).encrypt(derived[16:], b"for the key", None)
                longer = X963KDF(hashes.SHA256(), 48, b"info").derive(shared)
                sys.stdout.buffer.write(encoded + shared + longer + box)
                """
            let printed = try await Self.printed("/usr/bin/python3", ["-c", script], key.point)
            try expect(printed.count == 65 + 32 + 48 + 11 + 16, "what cryptography makes")
            let point = Array(printed[..<65])
            let message = point + printed[145...]
            #expect(try await key.decrypt(message) == Array("for the key".utf8))
            #expect(try await key.exchange(point) == Array(printed[65..<97]))
            let options: [String: Variant] = [
                "size": .uint32(48), "shared-info": .bytes(Array("info".utf8)),
            ]
            let derived = try await key.exchange(point, "ecdh-x963-sha256", options)
            #expect(derived == Array(printed[97..<145]))

            var changed = message
            changed[changed.count - 1] ^= 1
            await expectName(.keychainDecode) { _ = try await key.decrypt(changed) }
            await expectName(.keychainParameter) { _ = try await key.decrypt(message, "rsa") }
            await expectName(.keychainParameter) { _ = try await key.exchange(point, "dh") }
            await expectName(.keychainParameter) { _ = try await key.exchange([4, 1]) }
            for size in [UInt32(0), .max] {
                await expectName(.keychainParameter) {
                    _ = try await key.exchange(
                        point,
                        "ecdh-x963-sha256",
                        ["size": .uint32(size)]
                    )
                }
            }
        }
    }

    @Test("A private key can't be read, replaced or added, and no item is a key")
    func notItems() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let key = try await KeychainKey(keychain)
            await expectName(.keychainParameter) { _ = try await keychain.read(key.id) }
            await expectName(.keychainParameter) {
                try await keychain.proxy.setSecret(id: key.id, secret: [1], options: [:])
            }
            await expectName(.keychainDuplicate) { _ = try await KeychainKey(keychain) }
            let item = try await keychain.add("item")
            await expectName(.keychainParameter) {
                _ = try await keychain.proxy.sign(
                    id: item,
                    algorithm: "ecdsa-message-sha256",
                    data: [],
                    reason: "test",
                    options: [:]
                )
            }
            await expectName(.keychainParameter) {
                _ = try await keychain.proxy.createKey(
                    attributes: ["class": .string("genp")],
                    accessControl: [:],
                    options: [:]
                )
            }
            #expect(try await keychain.proxy.delete(ids: [key.id, item]) == 2)
            await expectName(.keychainNotFound) { _ = try await key.sign([]).value() }
        }
    }

    @Test("R66: a guarded key works after one prompt, for the authenticated operation only")
    func operations() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let key = try await KeychainKey(keychain, [.privateKeyUsage, .biometryAny])
            let plain = try await KeychainKey(keychain, .biometryAny, tag: 2)
            let context = try await bench.context(on: person.connection)
            let first = key.sign([1], context: context)
            try await sensor.operation().succeed(template)
            let signature = try await first.value()
            let folder = bench.bus.folder
            #expect(try await Self.verifies(signature, of: [1], by: key.point, in: folder))
            // The context can sign with every key that requires no more.
            #expect(try await !key.sign([2], context: context).value().isEmpty)
            #expect(try await !plain.sign([2], context: context).value().isEmpty)
            #expect(person.shownPrompts == 1)
            // It can neither decrypt nor exchange.
            let point = key.point
            let text = point + [UInt8](repeating: 0, count: 16)
            let others: [@BusActor @Sendable () async throws -> Void] = [
                { _ = try await key.decrypt(text, context: context) },
                { _ = try await key.exchange(point, context: context) },
                { _ = try await key.sign([3]).value() },
            ]
            for (number, body) in others.enumerated() {
                let running = EventRecorder<DBusError.Name?>()
                onLoop {
                    do {
                        try await body()
                        running.record(nil)
                    } catch {
                        running.record((error as? DBusError)?.name)
                    }
                }
                _ = try await sensor.operation(number + 1)
                try await person.cancel(on: bench)
                let name = try await running.first("the end") { _ in true }
                #expect(name == .keychainUserCanceled)
            }
            #expect(try await keychain.proxy.delete(ids: [key.id, plain.id]) == 2)
        }
    }

    @Test("Wrong lengths are refused before any prompt")
    func lengths() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let key = try await KeychainKey(keychain, [.privateKeyUsage, .biometryAny])
            let (point, long) = (key.point, [UInt8](repeating: 0, count: 66_000))
            typealias Call = @BusActor @Sendable () async throws -> Void
            let calls: [(DBusError.Name, Call)] = [
                (
                    .keychainParameter,
                    { _ = try await key.sign(point, "ecdsa-digest-sha256").value() }
                ), (.keychainDecode, { _ = try await key.decrypt(point) }),
                (.limitsExceeded, { _ = try await key.decrypt(long) }),
                (.keychainParameter, { _ = try await key.exchange([4, 1]) }),
                (
                    .keychainParameter,
                    {
                        let size: [String: Variant] = ["size": .uint32(1025)]
                        _ = try await key.exchange(point, "ecdh-x963-sha256", size)
                    }
                ),
            ]
            for (name, call) in calls {
                await expectName(name) {
                    try await bench.answer(within: .seconds(30), call)
                }
            }
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("R64: a key with an application password signs only with that password")
    func password() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let context = try await bench.context()
            let flags: AccessControl.Flags = [.privateKeyUsage, .applicationPassword]
            await expectName(.keychainParameter) {
                _ = try await KeychainKey(keychain, flags, context: context)
            }
            try await context.setPassword("word")
            let key = try await KeychainKey(keychain, flags, context: context)
            #expect(try await !key.sign([1], context: context).value().isEmpty)
            let other = try await bench.context()
            try await other.setPassword("wrong")
            await expectName(.keychainAuthFailed) {
                _ = try await key.sign([1], context: other).value()
            }
        }
    }

    @Test("A temporary key is found by no search and is deleted with its connection")
    func temporary() async throws {
        try await ServiceBench.run { bench in
            let other = try bench.bus.connect()
            let keychain = bench.keychain(other)
            let stays = try await KeychainKey(keychain, tag: 1)
            var goes: [KeychainKey] = []
            for tag: UInt8 in 2...4 {
                goes.append(try await KeychainKey(keychain, tag: tag, isTemporary: true))
            }
            _ = try await goes[0].sign([1]).value()
            #expect(try await keychain.proxy.delete(ids: [goes[0].id]) == 1)
            let watching = bench.keychain()
            let found = try await watching.proxy.search(query: [:], options: [:])
            #expect(found.compactMap { $0["id"]?.asString } == [stays.id])
            // The connection belongs to the user, so only its end explains the deletion.
            #expect(try await watching.proxy.delete(ids: [goes[1].id]) == 1)
            let left = KeychainKey(goes[2], of: watching)
            _ = try await left.sign([1]).value()
            other.close()
            try await eventually("the key to go") {
                await (try? left.sign([1]).value()) == nil
            }
            await expectName(.keychainNotFound) { _ = try await left.sign([1]).value() }
            _ = try await KeychainKey(stays, of: watching).sign([1]).value()
        }
    }
}

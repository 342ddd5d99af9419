import Crypto
import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

/// Keys, checked with independent implementations: openssl and Python's cryptography.
@Suite("Keys")
struct KeyTests {
    private struct Made {
        let store: KeychainStore
        let id: String
        let point: [UInt8]
        /// Holds the folder, because the store is in it.
        let folder: StateFolder

        init(flags: AccessControl.Flags = .privateKeyUsage, password: String? = nil) throws {
            folder = try StateFolder("keychain")
            store = try folder.open()
            let made = try store.createKey(
                Attributes(["class": .text("keys"), "atag": .bytes([1, 2])]),
                accessControl: .guarded(by: flags),
                password: password.map { SecretBytes($0) },
                caller: .person,
                date: 5
            )
            (id, point) = (made.id, made.publicKey)
        }

        func authorization(_ operation: AccessOperation) throws -> AccessGrant {
            let control = try store.item(id, caller: .person).accessControl
            return try #require(
                AccessGrant.resting(
                    on: [.finger(), .passcode(), .companion()],
                    for: operation,
                    uid: 1000,
                    accessControl: control
                )
            )
        }

        func sign(
            _ data: [UInt8],
            _ algorithm: SignatureAlgorithm = .message,
            password: String? = nil,
            for operation: AccessOperation = .useKeySign
        ) throws -> [UInt8] {
            try store.sign(
                data,
                with: id,
                algorithm,
                authorization: authorization(operation),
                password: password.map { SecretBytes($0) },
                caller: .person
            )
        }

        func decrypt(
            _ data: [UInt8],
            for operation: AccessOperation = .useKeyDecrypt
        ) throws -> [UInt8] {
            try store.decrypt(
                data,
                with: id,
                authorization: authorization(operation),
                password: nil,
                caller: .person
            )
            .bytes
        }

        func exchange(
            _ point: [UInt8],
            _ algorithm: ExchangeAlgorithm,
            for operation: AccessOperation = .useKeyKeyExchange
        ) throws -> [UInt8] {
            try store.exchange(
                point,
                with: id,
                algorithm,
                authorization: authorization(operation),
                password: nil,
                caller: .person
            )
            .bytes
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns a public key in openssl's format: the DER header of P-256, then the point.
    private func openSSLKey(_ point: [UInt8]) -> [UInt8] {
        [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ] + point
    }

    /// Runs a Python script with the key's `point` and further values in hexadecimal.
    private func python(_ script: String, _ values: [[UInt8]]) throws -> [UInt8] {
        let start = """
            import sys
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec, utils
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
            values = [bytes.fromhex(v) for v in sys.argv[1:]]
            point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), values[0])
            def encoded(key):
                return key.public_key().public_bytes(
                    serialization.Encoding.X962,
                    serialization.PublicFormat.UncompressedPoint)
            out = sys.stdout.buffer

            """
        return try run(["/usr/bin/python3", "-c", start + script] + values.map(hexadecimal))
    }

    @Test("openssl accepts signatures of a message and of a digest")
    func openSSL() throws {
        let key = try Made()
        let message = Array("to be signed".utf8)
        let folder = key.folder.path
        try Data(openSSLKey(key.point)).write(to: URL(filePath: folder + "/key.der"))
        for (data, algorithm) in [
            (message, SignatureAlgorithm.message), (Array(SHA256.hash(data: message)), .digest),
        ] {
            try Data(key.sign(data, algorithm)).write(to: URL(filePath: folder + "/signature"))
            let printed = try run(
                [
                    "/usr/bin/openssl", "dgst", "-sha256", "-keyform", "DER", "-verify",
                    folder + "/key.der", "-signature", folder + "/signature",
                ],
                input: message
            )
            #expect(String(decoding: printed, as: UTF8.self) == "Verified OK\n")
        }
    }

    @Test("cryptography accepts a signature, and refuses it for another message")
    func cryptography() throws {
        let key = try Made()
        let message = Array("message".utf8)
        let printed = try python(
            """
            from cryptography.exceptions import InvalidSignature
            point.verify(values[1], values[2], ec.ECDSA(hashes.SHA256()))
            point.verify(values[3], values[2], ec.ECDSA(hashes.SHA256()))
            try:
                point.verify(values[1], values[2] + b"!", ec.ECDSA(hashes.SHA256()))
            except InvalidSignature:
                out.write(b"ok")
            """,
            [
                key.point, key.sign(message), message,
                key.sign(Array(SHA256.hash(data: message)), .digest),
            ]
        )
        #expect(printed == Array("ok".utf8))
    }

    @Test(
        "Data that cryptography encrypts like Apple is decrypted, modified data is refused"
    )
    func decrypt() throws {
        let key = try Made()
        let script = """
            sender = ec.generate_private_key(ec.SECP256R1())
            shared = sender.exchange(ec.ECDH(), point)
            kdf = X963KDF(hashes.SHA256(), 32, encoded(sender))
            derived = kdf.derive(shared)
            box = AESGCM(derived[:16]).encrypt(derived[16:], values[1], None)
            out.write(encoded(sender) + box)
            """
        for text in [[], Array("hello".utf8), [UInt8](repeating: 7, count: 5000)] {
            let data = try python(script, [key.point, text])
            #expect(data.count == 65 + text.count + 16)
            #expect(try key.decrypt(data) == text)
        }
        let data = try python(script, [key.point, Array("hello".utf8)])
        for index in data.indices {
            var changed = data
            changed[index] ^= 1
            expectRefusal(.decode) { _ = try key.decrypt(changed) }
        }
        for count in [0, 64, 65, 80, data.count - 1] {
            expectRefusal(.decode) { _ = try key.decrypt(Array(data.prefix(count))) }
        }
        expectRefusal(.limitsExceeded) {
            _ = try key.decrypt([UInt8](repeating: 4, count: KeychainStore.dataLimit + 1))
        }
    }

    @Test("Both sides of an exchange get equal secrets, plain and derived")
    func exchange() throws {
        let key = try Made()
        let info = Array("shared info".utf8)
        let printed = try python(
            """
            other = ec.generate_private_key(ec.SECP256R1())
            shared = other.exchange(ec.ECDH(), point)
            out.write(encoded(other) + shared)
            for size in (1, 32, 33, 1024):
                out.write(X963KDF(hashes.SHA256(), size, values[1]).derive(shared))
            """,
            [key.point, info]
        )
        let other = Array(printed.prefix(65))
        var rest = printed.dropFirst(65)
        #expect(try key.exchange(other, .plain) == Array(rest.prefix(32)))
        rest = rest.dropFirst(32)
        for size in [1, 32, 33, 1024] {
            let algorithm = ExchangeAlgorithm.x963(sharedInfo: info, size: size)
            #expect(try key.exchange(other, algorithm) == Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        for size in [-1, 0, 1025, .max] {
            expectRefusal(.parameter) {
                _ = try key.exchange(other, .x963(sharedInfo: info, size: size))
            }
        }
        var offCurve = other
        offCurve[64] ^= 1
        let infinity: [UInt8] = [0]
        for point in [offCurve, infinity, [], Array(other.dropLast())] {
            expectRefusal(.parameter) { _ = try key.exchange(point, .plain) }
        }
    }

    @Test("A digest has 32 bytes")
    func digestSize() throws {
        let key = try Made()
        for count in [0, 20, 31, 33, 64] {
            let digest = [UInt8](repeating: 1, count: count)
            expectRefusal(.parameter) { _ = try key.sign(digest, .digest) }
        }
        _ = try key.sign([], .message)
    }

    @Test("A key can't be read, replaced or added, and other items are no keys")
    func notItems() throws {
        let key = try Made()
        expectRefusal(.parameter) { _ = try key.store.read(key.id) }
        expectRefusal(.parameter) {
            try key.store.setSecret(
                of: key.id,
                to: SecretBytes("x"),
                password: nil,
                caller: .person,
                date: 0
            )
        }
        let attributes = try Attributes(["class": .text("keys")])
        expectRefusal(.parameter) {
            _ = try key.store.add(
                attributes,
                secret: SecretBytes("x"),
                accessControl: .none,
                password: nil,
                caller: .person,
                date: 0
            )
        }
        expectRefusal(.parameter) {
            _ = try key.store.createKey(
                .service("a"),
                accessControl: .none,
                password: nil,
                caller: .person,
                date: 0
            )
        }
        let item = try key.store.add("item")
        let authorization = try key.authorization(.useKeySign)
        expectRefusal(.parameter) {
            _ = try key.store.sign(
                [],
                with: item,
                .message,
                authorization: authorization,
                password: nil,
                caller: .person
            )
        }
        #expect(try key.store.item(key.id, caller: .person).publicKey == key.point)
        #expect(try key.store.item(item, caller: .person).publicKey.isEmpty)
    }

    @Test("R66: Each use of a key needs its own authorization")
    func operations() throws {
        let key = try Made(flags: [.privateKeyUsage, .biometryAny])
        for operation in AccessOperation.allCases {
            // Invalid arguments are detected only after the right authorization.
            expectRefusal(operation == .useKeySign ? .parameter : .authFailed) {
                _ = try key.sign([], .digest, for: operation)
            }
            expectRefusal(operation == .useKeyDecrypt ? .decode : .authFailed) {
                _ = try key.decrypt([], for: operation)
            }
            expectRefusal(operation == .useKeyKeyExchange ? .parameter : .authFailed) {
                _ = try key.exchange([], .plain, for: operation)
            }
        }
    }

    @Test("A key with an app password works only with that password")
    func password() throws {
        let key = try Made(flags: [.privateKeyUsage, .applicationPassword], password: "right")
        #expect(try !key.sign([], password: "right").isEmpty)
        expectRefusal(.authFailed) { _ = try key.sign([], password: "wrong") }
        expectRefusal(.authFailed) { _ = try key.sign([]) }
    }

    @Test("A key survives a restart, and every key is different")
    func restart() throws {
        let key = try Made()
        let other = try key.store.createKey(
            Attributes(["class": .text("keys"), "atag": .bytes([3])]),
            accessControl: .none,
            password: nil,
            caller: .person,
            date: 0
        )
        #expect(other.publicKey != key.point)
        #expect(key.point.count == 65 && key.point[0] == 4)
    }
}

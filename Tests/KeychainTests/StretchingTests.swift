import Crypto
import Sealing
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// L18: Guessing an app password costs scrypt's memory and time.
@Suite("Stretching of app passwords")
struct StretchingTests {
    /// The first 32 of the 64 bytes in RFC 7914, section 12, for N = 16384, r = 8, p = 1.
    ///
    /// The last step of scrypt computes each 32 bytes separately.
    private static let published: [UInt8] = [
        0x70, 0x23, 0xBD, 0xCB, 0x3A, 0xFD, 0x73, 0x48, 0x46, 0x1C, 0x06, 0xCD, 0x81, 0xFD, 0x38,
        0xEB, 0xFD, 0xA8, 0xFB, 0xBA, 0x90, 0x4F, 0x8E, 0x3E, 0xA9, 0xB5, 0x43, 0xF6, 0x54, 0x5D,
        0xA1, 0xF2,
    ]

    /// Python's `hashlib.scrypt(b"password", salt=bytes(range(16)), n=2**15, r=8, p=1, dklen=32,
    /// maxmem=1<<26)`, with the cost of new passwords.
    private static let computed: [UInt8] = [
        0x2B, 0xF8, 0x23, 0x78, 0xF6, 0xC4, 0xC5, 0xF8, 0xC1, 0x3D, 0x9E, 0xB3, 0x23, 0x45, 0x2F,
        0x9E, 0x37, 0xA0, 0x62, 0x91, 0xFC, 0x00, 0xB2, 0xF5, 0xAF, 0xAE, 0x8F, 0xCA, 0xD2, 0x2F,
        0x33, 0xE3,
    ]

    @Test("L18: A password is stretched by scrypt, block size 8, one lane, as in RFC 7914")
    func vectors() throws {
        func key(_ password: String, _ salt: [UInt8], _ logCost: UInt8) throws -> [UInt8] {
            try Stretching(salt: salt, logCost: logCost).key(for: SecretBytes(password))
                .withUnsafeBytes { Array($0) }
        }
        #expect(try key("pleaseletmein", Array("SodiumChloride".utf8), 14) == Self.published)
        #expect(try key("password", [UInt8](0..<16), 15) == Self.computed)
    }

    @Test("L18: A cost below 2^10 or above 2^20 is refused before the computation")
    func bounds() {
        for logCost: UInt8 in [1, 9, 21, 63, 64, 255] {
            let stretching = Stretching(salt: [1], logCost: logCost)
            expectRefusal(.decode) { _ = try stretching.key(for: SecretBytes("a")) }
        }
    }

    @Test("L18: A new envelope has its own key and salt, and stretches with N = 2^15")
    func envelope() throws {
        let ring = KeyRing(
            MasterKey([UInt8](repeating: 3, count: 32)),
            identity: [UInt8](repeating: 5, count: 16)
        )
        let item = try Self.item()
        let password = SecretBytes("password")
        var salts: Set<[UInt8]> = []
        var keys: Set<[UInt8]> = []
        for _ in 0..<2 {
            let envelope = try Envelope(
                sealing: SecretBytes("secret"),
                of: item,
                password: password,
                ring: ring
            )
            // Decode and open the envelope without the code of `Envelope`.
            var reader = ByteReader(envelope.bytes)
            #expect(try reader.number(UInt8.self) == 1)
            let logCost: UInt8 = try reader.number()
            let salt = try reader.value()
            let wrappedKey = try reader.value()
            #expect(logCost == 15)
            #expect(salt.count == 16)
            salts.insert(salt)
            var data = ByteWriter()
            data.add(item.binding)
            data.add(logCost)
            data.add(salt)
            let wrapping = ring.wrappingKey(
                uid: item.uid,
                id: item.itemID,
                stretched: try Stretching(salt: salt, logCost: 15).key(for: password)
            )
            let box = try AES.GCM.SealedBox(combined: wrappedKey)
            #expect(throws: Never.self) {
                let key = try AES.GCM.open(box, using: wrapping, authenticating: data.bytes)
                #expect(key.count == 32)
                keys.insert(Array(key))
            }
        }
        #expect(salts.count == 2 && keys.count == 2)
    }

    private static func item() throws -> Item {
        Item(
            itemID: try #require(ItemID(bytes: [UInt8](repeating: 1, count: 16))),
            uid: 1000,
            app: "",
            attributes: try Attributes(["class": .text("genp")]),
            accessControl: try AccessControl(flags: .applicationPassword),
            created: 1,
            added: 1,
            modified: 1,
            publicKey: [],
            enrolment: nil,
            secretVersion: 1,
            secretSize: 6
        )
    }
}

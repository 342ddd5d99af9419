import Crypto
import Glibc
import TestSupport

@testable import FaceSensor
@testable import Fingerprint
@testable import SecurityKey

/// Files of the sensors.
enum SensorFiles {
    private static let key = SymmetricKey(data: [UInt8](repeating: 1, count: 32))
    private static let id = String(repeating: "a", count: 32)

    /// Reads bytes as the face sensor's template, and as the contents of an authentic template.
    static func readTemplate(_ bytes: [UInt8]) {
        precondition(TemplateRecord(bytes, id: id, user: 1000, key: key) == nil)
        var input = Foreign(bytes)
        let head =
            Array(input.byte() % 2 == 0 ? "LAFACE01".utf8 : "LAFACE02".utf8) + input.take(8)
            + [4] + input.take(4)
        let data = TemplateRecord.authenticated(head, id, 1000)
        guard let box = try? AES.GCM.seal(input.all(), using: key, authenticating: data),
            let sealed = box.combined,
            let record = TemplateRecord(head + sealed, id: id, user: 1000, key: key)
        else { return }
        precondition(!record.faces.isEmpty && record.learned.count < 256)
        guard let stored = record.sealed(user: 1000, key: key) else { return }
        let again = TemplateRecord(stored, id: id, user: 1000, key: key)
        precondition(again?.entry == record.entry)
        precondition(TemplateRecord(stored, id: id, user: 1001, key: key) == nil)
    }

    /// Reads bytes as the credential of a security key.
    ///
    /// A valid credential must survive a round trip.
    static func readCredential(_ bytes: [UInt8]) {
        guard let record = CredentialRecord(bytes) else { return }
        precondition(record.content == bytes)
    }

    private static let folder = try? StateFolder()

    /// Reads bytes as each of the fingerprint sensor's lists.
    ///
    /// A written list must read back equal.
    static func readLists(_ bytes: [UInt8]) {
        do { try readAndWriteLists(bytes) } catch { preconditionFailure("\(error)") }
    }

    private static func readAndWriteLists(_ bytes: [UInt8]) throws {
        guard let folder else { preconditionFailure("no folder") }
        for name in ["fingerprint-labels", "fingerprint-ids", "fingerprint-readers"] {
            try? folder.write(bytes, to: name)
        }
        var labels = try LabelFile(folder: folder.path)
        var prints = try KnownPrints(folder: folder.path)
        let readers = try KnownReaders(folder: folder.path)
        let label = String(decoding: bytes.prefix(200), as: UTF8.self)
        precondition(labels.set(label, of: "id", uid: 1, sensor: "Fingerprint", keeping: ["id"]))
        let id = prints.identifier(
            of: .rightIndex,
            uid: 1,
            sensor: "Fingerprint",
            print: "print",
            modified: 0,
            stamp: nil,
            now: 0
        )
        precondition(prints.write() && readers.write())
        let same = try LabelFile(folder: folder.path)
        precondition(same.label(of: "id", uid: 1, sensor: "Fingerprint") == label)
        precondition(same.identifiers(uid: 1, sensor: "Fingerprint") == ["id"])
        var known = try KnownPrints(folder: folder.path)
        let idAgain = known.identifier(
            of: .rightIndex,
            uid: 1,
            sensor: "Fingerprint",
            print: "print",
            modified: 0,
            stamp: nil,
            now: 0
        )
        precondition(idAgain == id)
        let readersAgain = try KnownReaders(folder: folder.path)
        precondition(readersAgain == readers)
    }
}

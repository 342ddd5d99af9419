import Foundation
import TestSupport

/// A folder for a test's files, deleted with the object.
final class Folder: Sendable {
    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path
    }

    /// Creates a file, and returns its path.
    func file(_ content: Data) throws -> String {
        let file = path + "/" + UUID().uuidString
        try content.write(to: URL(filePath: file))
        return file
    }

    /// Runs openssl, and returns its exit status.
    func openssl(_ arguments: String...) throws -> Int32 {
        try ChildProcess.run(["/usr/bin/openssl"] + arguments).status
    }

    /// Creates a file with a P-256 public key from its X9.63 point.
    func publicKey(_ point: Data) throws -> String {
        // SubjectPublicKeyInfo: id-ecPublicKey, prime256v1, and a bit string of 65 bytes.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        let body = (Data(head) + point).base64EncodedString(options: .lineLength64Characters)
        return try file(
            Data("-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----\n".utf8)
        )
    }

    /// Generates a P-256 key with OpenSSL, and returns its file and its X9.63 point.
    func key() throws -> (file: String, point: Data) {
        let file = path + "/key.pem"
        let publicFile = path + "/key.der"
        guard
            try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", file) == 0,
            try openssl("ec", "-in", file, "-pubout", "-outform", "DER", "-out", publicFile) == 0
        else { throw CocoaError(.fileWriteUnknown) }
        return (file, try Data(contentsOf: URL(filePath: publicFile)).suffix(65))
    }
}

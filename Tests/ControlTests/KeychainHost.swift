import DBus
import Foundation
import LocalAuthBus
import Synchronization
import TestSupport
import Testing

/// A machine with a keychain: a state directory, and the real daemon on request.
final class KeychainHost: Sendable {
    let folder: Folder
    let bus: PrivateBus
    private let daemon = Mutex<ChildProcess?>(nil)

    init() throws {
        folder = try Folder()
        bus = try PrivateBus()
        try FileManager.default.createDirectory(
            atPath: state,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    var state: String { bus.folder + "/state" }
    var keyFile: String { state + "/keychain/master.key" }
    var credential: String { folder.path + "/credstore/localauth.master-key" }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    func write(_ bytes: Data, to path: String) throws {
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    // MARK: The daemon

    /// Starts the daemon with the credentials that systemd would pass.
    func start(credentials: Data? = nil) async throws {
        var environment: [String: String] = [:]
        if let credentials {
            let path = folder.path + "/credentials"
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try write(credentials, to: path + "/localauth.master-key")
            environment["CREDENTIALS_DIRECTORY"] = path
        }
        let process = try await onBus { [bus, environment] in
            try await TestDaemon(on: bus, environment: environment).process
        }
        daemon.withLock { $0 = process }
    }

    func stop() {
        daemon.withLock { process in
            process?.signal(SIGTERM)
            _ = try? process?.wait()
            process = nil
        }
    }

    /// Stores a secret under a service name.
    func add(_ name: String, _ secret: String) async throws {
        let file = try folder.file(Data(secret.utf8))
        let added = try await control([
            "keychain", "add", "--bus", bus.address, "--service", name, "--secret-file", file,
        ])
        #expect(added.status == 0, "\(added.errors)")
    }

    func read(_ name: String) async throws -> ChildProcess.Ended {
        try await control(["keychain", "read", "--bus", bus.address, "--service", name])
    }

    /// Returns the name and the message of the daemon's refusal.
    func refusal() async throws -> (name: String, message: String) {
        let address = bus.address
        return try await onBus {
            let client = try Connection(.address(address))
            defer { client.close() }
            let keychain = Keychain1Proxy(
                client,
                destination: TestDaemon.name,
                path: ObjectPath(trusted: "/org/localauth/Keychain1")
            )
            do throws(DBusError) {
                _ = try await keychain.search(query: [:], options: [:])
                return ("", "")
            } catch {
                return (error.name.rawValue, error.message)
            }
        }
    }

    // MARK: The administrator

    /// Runs a verb on the state directory.
    func keychain(
        _ verb: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ended {
        try await keychain(verb, arguments, environment)
    }

    /// Runs a verb on the state directory and the sealed key.
    func keychain(
        _ verb: String,
        _ arguments: String...,
        on tpm: SoftwareTPM,
        environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ended {
        try tpm.powerCycle()
        let place = ["--credential", credential, "--tpm2-device", tpm.device]
        return try await keychain(verb, arguments + place, environment)
    }

    private func keychain(
        _ verb: String,
        _ arguments: [String],
        _ environment: [String: String]
    ) async throws -> ChildProcess.Ended {
        try await control(
            ["keychain", verb, "--state-directory", state] + arguments,
            environment: hostSecret.merging(environment) { $1 }
        )
    }

    /// The second half of the sealing: a secret of this test's host, not of the real machine.
    private var hostSecret: [String: String] {
        ["SYSTEMD_CREDENTIAL_SECRET": folder.path + "/host.secret"]
    }

    /// Decrypts the sealed key as systemd does at the service's start; nil if it fails.
    func unseal(on tpm: SoftwareTPM) throws -> Data? {
        try tpm.powerCycle()
        let output = folder.path + "/" + UUID().uuidString
        defer { unlink(output) }
        let creds = try ChildProcess.run(
            [
                "/usr/bin/systemd-creds", "decrypt", "--name=localauth.master-key",
                "--tpm2-device=" + tpm.device, credential, output,
            ],
            environment: hostSecret
        )
        return creds.status == 0 ? try bytes(output) : nil
    }
}

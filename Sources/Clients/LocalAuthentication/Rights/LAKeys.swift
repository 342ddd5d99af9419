internal import DBus
public import Foundation
internal import LocalAuthClient
public import Security

/// Runs a call of the keychain, and makes Apple's errors of what it throws.
func keychain<Value: Sendable>(
    _ body: @escaping @BusActor @Sendable (RemoteKeychain) async throws(KeychainFailure) -> Value
) async throws -> Value {
    do throws(KeychainFailure) {
        return try await onKeychain(body).get()
    } catch {
        throw NSError(
            domain: NSOSStatusErrorDomain,
            code: Int(error.status),
            userInfo: [NSLocalizedDescriptionKey: error.message]
        )
    }
}

@BusActor
private func onKeychain<Value: Sendable>(
    _ body: @escaping @BusActor @Sendable (RemoteKeychain) async throws(KeychainFailure) -> Value
) async -> Result<Value, KeychainFailure> {
    let silence = Result<Value, KeychainFailure>.failure(KeychainFailure(NoAnswer.silent))
    return await ServiceConnection.shared.answered(orElse: silence) {
        do throws(KeychainFailure) {
            return .success(try await body(try await RemoteKeychain()))
        } catch {
            return .failure(error)
        }
    }
}

extension LARight {
    /// Uses what the right guards, without a prompt: the right has been authorized for it.
    var use: RemoteKeychain.Use { RemoteKeychain.Use(context: context, forbidsInteraction: true) }
}

/// The one secret of a right.
public final class LASecret: NSObject, Sendable {
    private let id: String
    private let right: Held

    init(id: String, right: Held) {
        self.id = id
        self.right = right
    }

    /// The secret; the right has to be authorized.
    ///
    /// - Throws: An error of the keychain.
    public var rawData: Data {
        get async throws {
            let (id, use) = (id, try right.use())
            return Data(
                try await keychain { keychain throws(KeychainFailure) in
                    try await keychain.read(id, use)
                }
            )
        }
    }

    /// The secret; the right has to be authorized.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        Task {
            do {
                completion(try await rawData, nil)
            } catch {
                completion(nil, error)
            }
        }
    }
}

/// The right of a secret and of a key, which it holds itself.
final class Held: Sendable {
    private struct Weak: Sendable {
        weak let right: LARight?
    }

    private let reference: Weak

    init(_ right: LARight) {
        reference = Weak(right: right)
    }

    /// - Throws: `notInteractive` when the right isn't authorized, or is gone.
    func use() throws -> RemoteKeychain.Use {
        guard let right = reference.right, right.state == .authorized else {
            throw LAError(
                .notInteractive,
                userInfo: [NSLocalizedDescriptionKey: "The right is not authorized."]
            )
        }
        return right.use
    }
}

/// The public half of a right's key.
public final class LAPublicKey: NSObject, Sendable {
    let point: [UInt8]

    init(_ point: [UInt8]) {
        self.point = point
    }

    private var key: SecKey { SecKey(id: nil, publicKey: point) }

    /// The X9.63 point.
    public var bytes: Data {
        get async throws { Data(point) }
    }

    /// The X9.63 point.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        completion(Data(point), nil)
    }

    /// Encrypts so that only the holder of the private half can read it.
    ///
    /// - Throws: An error of the keychain.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        var error: Unmanaged<CFError>?
        guard let result = SecKeyCreateEncryptedData(key, algorithm, data as CFData, &error) else {
            throw Self.taken(error)
        }
        return Data(referencing: result)
    }

    /// Whether ``encrypt(_:algorithm:)`` can use this algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
    }

    /// Checks a signature.
    ///
    /// - Throws: When it is not this key's.
    public func verify(
        _ signedData: Data,
        signature: Data,
        algorithm: SecKeyAlgorithm
    ) async throws {
        var error: Unmanaged<CFError>?
        let (data, signature) = (signedData as CFData, signature as CFData)
        guard SecKeyVerifySignature(key, algorithm, data, signature, &error) else {
            throw Self.taken(error)
        }
    }

    /// Whether ``verify(_:signature:algorithm:)`` can use this algorithm.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .verify, algorithm)
    }

    private static func taken(_ error: Unmanaged<CFError>?) -> any Error {
        error?.takeRetainedValue() ?? NSError(domain: NSOSStatusErrorDomain, code: -50)
    }
}

/// The private half of a right's key, which never leaves the service.
public final class LAPrivateKey: NSObject, Sendable {
    private let id: String
    private let right: Held
    /// The public half.
    public let publicKey: LAPublicKey

    init(id: String, publicKey: [UInt8], right: Held) {
        self.id = id
        self.publicKey = LAPublicKey(publicKey)
        self.right = right
    }

    private var key: SecKey { SecKey(id: id, publicKey: publicKey.point) }

    /// Signs; the right has to be authorized.
    ///
    /// - Throws: An error of the keychain.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        let (id, use) = (id, try right.use())
        return Data(
            try await keychain { keychain throws(KeychainFailure) in
                try await keychain.sign(id, algorithm, [UInt8](data), use)
            }
        )
    }

    /// Whether ``sign(_:algorithm:)`` can use this algorithm.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .sign, algorithm)
    }

    /// Decrypts; the right has to be authorized.
    ///
    /// - Throws: An error of the keychain.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        let (id, use) = (id, try right.use())
        return Data(
            try await keychain { keychain throws(KeychainFailure) in
                try await keychain.decrypt(id, algorithm, [UInt8](data), use)
            }
        )
    }

    /// Whether ``decrypt(_:algorithm:)`` can use this algorithm.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .decrypt, algorithm)
    }

    /// Agrees on a secret with the holder of another key; the right has to be authorized.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's X9.63 point.
    ///   - algorithm: How.
    ///   - parameters: `requestedSize` and `sharedInfo`, by their names.
    /// - Returns: The secret.
    /// - Throws: An error of the keychain.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [String: Any]
    ) async throws -> Data {
        let size = parameters["requestedSize"] as? Int
        let info = [UInt8](parameters["sharedInfo"] as? Data ?? Data())
        let (id, use) = (id, try right.use())
        return Data(
            try await keychain { keychain throws(KeychainFailure) in
                try await keychain.agree(
                    id,
                    algorithm,
                    [UInt8](publicKey),
                    size: size,
                    info: info,
                    use
                )
            }
        )
    }

    /// Whether ``exchangeKeys(publicKey:algorithm:parameters:)`` can use this algorithm.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .keyExchange, algorithm)
    }
}

internal import DBus
public import Foundation
internal import LocalAuthClient
public import Security

/// Runs a keychain call, and converts its errors to Apple's.
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
    let silence = Result<Value, KeychainFailure>.failure(KeychainFailure(BlockingFailure.silent))
    return await ServiceConnection.shared.answered(orElse: silence) {
        do throws(KeychainFailure) {
            return .success(try await body(try await RemoteKeychain()))
        } catch {
            return .failure(error)
        }
    }
}

extension LARight {
    /// Keychain access without a prompt, because the right is already authorized.
    var use: RemoteKeychain.PromptOptions {
        RemoteKeychain.PromptOptions(context: context, forbidsInteraction: true)
    }
}

public final class LASecret: NSObject, Sendable {
    private let id: String
    private let right: WeakRight

    init(id: String, right: WeakRight) {
        self.id = id
        self.right = right
    }

    /// The secret of an authorized right.
    ///
    /// - Throws: An error of the keychain; `notInteractive` if the right is not authorized.
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

    /// Passes the secret of an authorized right to a completion.
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

/// A weak reference from a secret or a key to its right.
final class WeakRight: Sendable {
    private struct Weak: Sendable {
        weak let right: LARight?
    }

    private let reference: Weak

    init(_ right: LARight) {
        reference = Weak(right: right)
    }

    /// - Throws: `notInteractive` if the right isn't authorized or was released.
    func use() throws -> RemoteKeychain.PromptOptions {
        guard let right = reference.right, right.state == .authorized else {
            throw LAError(
                .notInteractive,
                userInfo: [NSLocalizedDescriptionKey: "The right is not authorized."]
            )
        }
        return right.use
    }
}

public final class LAPublicKey: NSObject, Sendable {
    let point: [UInt8]

    init(_ point: [UInt8]) {
        self.point = point
    }

    private var key: SecKey { SecKey(id: nil, publicKey: point) }

    /// The point in X9.63 format.
    public var bytes: Data {
        get async throws { Data(point) }
    }

    /// Passes the point in X9.63 format to a completion.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        completion(Data(point), nil)
    }

    /// Encrypts data for the holder of the private half.
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
    /// - Throws: An error if the signature is not from this key.
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
    private let right: WeakRight
    public let publicKey: LAPublicKey

    init(id: String, publicKey: [UInt8], right: WeakRight) {
        self.id = id
        self.publicKey = LAPublicKey(publicKey)
        self.right = right
    }

    private var key: SecKey { SecKey(id: id, publicKey: publicKey.point) }

    /// Signs data; needs an authorized right.
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

    /// Decrypts data; needs an authorized right.
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

    /// Derives a shared secret with another key; needs an authorized right.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's point in X9.63 format.
    ///   - algorithm: A key exchange algorithm.
    ///   - parameters: `requestedSize` and `sharedInfo`, by their names.
    /// - Returns: The derived secret.
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

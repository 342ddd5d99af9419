public import Foundation
public import Security

// The same calls for code that does not await. Each completion is called once, off the main thread.

/// Awaits, and tells a completion.
private func tell<Value: Sendable>(
    _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void,
    _ body: @escaping @Sendable () async throws -> Value
) {
    Task {
        do {
            completion(try await body(), nil)
        } catch {
            completion(nil, error)
        }
    }
}

extension LARightStore {
    /// The right of that name.
    public func right(
        forIdentifier identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.right(forIdentifier: identifier) }
    }

    /// Keeps a right, with a new key and an empty secret.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.saveRight(right, identifier: identifier) }
    }

    /// Keeps a right, with a new key and a secret.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        tell(completion) {
            try await self.saveRight(right, identifier: identifier, secret: secret)
        }
    }

    /// Forgets a right, its key and its secret.
    public func removeRight(
        _ right: LAPersistedRight,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell({ (_: Void?, error) in completion(error) }, { try await self.removeRight(right) })
    }

    /// Forgets the right of that name.
    public func removeRight(
        forIdentifier identifier: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell(
            { (_: Void?, error) in completion(error) },
            { try await self.removeRight(forIdentifier: identifier) }
        )
    }

    /// Forgets all rights.
    public func removeAllRights(completion: @escaping @Sendable ((any Error)?) -> Void) {
        tell({ (_: Void?, error) in completion(error) }, { try await self.removeAllRights() })
    }
}

extension LAPrivateKey {
    /// Signs; the right has to be authorized.
    public func sign(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.sign(data, algorithm: algorithm) }
    }

    /// Decrypts; the right has to be authorized.
    public func decrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.decrypt(data, algorithm: algorithm) }
    }
}

extension LAPublicKey {
    /// Encrypts so that only the holder of the private half can read it.
    public func encrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.encrypt(data, algorithm: algorithm) }
    }

    /// Checks a signature; an error when it is not this key's.
    public func verify(
        _ signedData: Data,
        signature: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell(
            { (_: Void?, error) in completion(error) },
            {
                try await self.verify(signedData, signature: signature, algorithm: algorithm)
            }
        )
    }
}

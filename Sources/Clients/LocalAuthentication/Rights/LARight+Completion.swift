public import Foundation
public import Security

// Variants with completions, each called once, off the main thread.

/// Awaits `body`, and passes its result to a completion.
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
    /// Finds the right with this name.
    public func right(
        forIdentifier identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.right(forIdentifier: identifier) }
    }

    /// Saves a right with a new key and an empty secret.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.saveRight(right, identifier: identifier) }
    }

    /// Saves a right with a new key and a secret.
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

    /// Deletes a right, its key and its secret.
    public func removeRight(
        _ right: LAPersistedRight,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell({ (_: Void?, error) in completion(error) }, { try await self.removeRight(right) })
    }

    /// Deletes the right with this name.
    public func removeRight(
        forIdentifier identifier: String,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        tell(
            { (_: Void?, error) in completion(error) },
            { try await self.removeRight(forIdentifier: identifier) }
        )
    }

    /// Deletes all rights.
    public func removeAllRights(completion: @escaping @Sendable ((any Error)?) -> Void) {
        tell({ (_: Void?, error) in completion(error) }, { try await self.removeAllRights() })
    }
}

extension LAPrivateKey {
    /// Signs data; needs an authorized right.
    public func sign(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.sign(data, algorithm: algorithm) }
    }

    /// Decrypts data; needs an authorized right.
    public func decrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.decrypt(data, algorithm: algorithm) }
    }
}

extension LAPublicKey {
    /// Encrypts data for the holder of the private half.
    public func encrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        tell(completion) { try await self.encrypt(data, algorithm: algorithm) }
    }

    /// Checks a signature; passes an error if it is not from this key.
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

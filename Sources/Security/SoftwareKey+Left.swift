#if !SoftwareKeys
internal import Foundation

/// What is left without the trait: the public halves of the service's keys can be handed on.
extension SoftwareKey {
    static let areBuilt = false
    private static let left = KeychainFailure(
        errSecUnimplemented,
        "This program was built without the package trait SoftwareKeys."
    )

    func label() throws(KeychainFailure) -> [UInt8] { throw Self.left }

    static func publicHalfOfRSA(
        _ bytes: Data,
        isPrivate: Bool
    ) throws(KeychainFailure) -> (bytes: Data, bits: Int) {
        throw left
    }

    /// The point of a public key on P-256; whether it lies on the curve is not asked.
    static func point(
        of bytes: Data,
        _ kind: Kind,
        isPrivate: Bool
    ) throws(KeychainFailure) -> Data {
        guard kind == .p256, !isPrivate else { throw left }
        guard bytes.first == 4 else { throw invalid }
        return bytes
    }

    static func random(isRSA: Bool, bits: Int) throws(KeychainFailure) -> SoftwareKey {
        throw left
    }

    func encrypt(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        throw Self.left
    }

    func decrypt(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        throw Self.left
    }

    func agree(
        with point: Data,
        _ algorithm: SecKeyAlgorithm,
        size: Int?,
        info: Data
    ) throws(KeychainFailure) -> Data {
        throw Self.left
    }

    func sign(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        throw Self.left
    }

    func verify(
        _ signature: Data,
        of data: Data,
        _ algorithm: SecKeyAlgorithm
    ) throws(KeychainFailure) -> Bool {
        throw Self.left
    }
}
#endif

#if !SoftwareKeys
internal import Foundation

/// Stubs for builds without the trait `SoftwareKeys`, which can only pass public halves of service
/// keys on.
extension SoftwareKey {
    static let areBuilt = false
    fileprivate static let left = KeychainFailure(
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

    /// Returns the point of a P-256 public key, without checking that it is on the curve.
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

    static func digestOfP256(
        _ data: Data,
        _ scheme: KeyScheme
    ) throws(KeychainFailure) -> [UInt8] {
        throw left
    }

    static func signatureOfP256(
        _ signature: [UInt8],
        _ scheme: KeyScheme
    ) throws(KeychainFailure) -> [UInt8] {
        throw left
    }

    static func derived(
        _ secret: Data,
        _ scheme: KeyScheme,
        _ info: Data,
        _ size: Int
    ) throws(KeychainFailure) -> Data {
        throw left
    }
}

/// A stub: this build can't decrypt.
struct SealedBox {
    let point: [UInt8] = []

    init(_ data: Data, _ scheme: KeyScheme) throws(KeychainFailure) { throw SoftwareKey.left }

    func opened(with secret: Data) throws(KeychainFailure) -> Data { throw SoftwareKey.left }
}
#endif

#if SoftwareKeys
internal import Foundation
internal import Glibc

/// Algorithms that swift-crypto lacks: SHA-224, OAEP with large hashes, and raw RSA.
///
/// The library is loaded on first use, so that programs don't depend on it. Without the library
/// these algorithms are unsupported. The prototypes are those of OpenSSL 3, which keeps them stable
/// under this library name.
struct OpenSSL: Sendable {
    /// The installed library; nil without it.
    static let installed = OpenSSL("libcrypto.so.3")

    /// An operation, by the library's name.
    enum Operation: String {
        case sign
        case verify
        case encrypt
        case decrypt
    }

    // SAFETY: every pointer is valid during one call only; opaque pointers are the library's
    // objects.
    private typealias Bytes = UnsafePointer<UInt8>
    private typealias Room = UnsafeMutablePointer<UInt8>
    private typealias Size = UnsafeMutablePointer<Int>
    private typealias Name = UnsafePointer<CChar>
    private typealias Decode =
        @convention(c) (
            CInt, UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<Bytes?>, CLong
        ) -> Object?
    private typealias Object = OpaquePointer
    private typealias Make = @convention(c) (Object?, Object?) -> Object?
    private typealias Free = @convention(c) (Object?) -> Void
    private typealias Begin = @convention(c) (Object?) -> CInt
    private typealias Choose = @convention(c) (Object?, Name, Name) -> CInt
    private typealias Transform = @convention(c) (Object?, Room?, Size, Bytes?, Int) -> CInt
    private typealias Compare = @convention(c) (Object?, Bytes?, Int, Bytes?, Int) -> CInt
    private typealias Hash = @convention(c) (Object?, Name, Name?, Bytes?, Int, Room?, Size) -> CInt
    private typealias Mark = @convention(c) () -> CInt

    private static let functions = [
        "d2i_PrivateKey", "d2i_PublicKey", "EVP_PKEY_free", "EVP_PKEY_CTX_new", "EVP_PKEY_CTX_free",
        "EVP_PKEY_CTX_ctrl_str", "EVP_PKEY_sign_init", "EVP_PKEY_sign", "EVP_PKEY_verify_init",
        "EVP_PKEY_verify", "EVP_PKEY_encrypt_init", "EVP_PKEY_encrypt", "EVP_PKEY_decrypt_init",
        "EVP_PKEY_decrypt", "EVP_Q_digest", "ERR_set_mark", "ERR_pop_to_mark",
    ]
    /// The constant `EVP_PKEY_RSA`.
    private static let rsa: CInt = 6

    private let addresses: [String: UInt]

    init?(_ file: String) {
        guard let library = dlopen(file, RTLD_NOW | RTLD_LOCAL) else { return nil }
        var addresses: [String: UInt] = [:]
        for name in Self.functions {
            guard let address = dlsym(library, name) else { return nil }
            addresses[name] = UInt(bitPattern: address)
        }
        self.addresses = addresses
    }

    /// Returns a function of the list above.
    private func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        addresses[name].map { unsafeBitCast($0, to: type) }
    }

    /// Returns a digest, by the library's name of the hash; nil if the hash is disabled.
    func digest(_ data: Data, _ name: String) -> Data? {
        guard let hash = function("EVP_Q_digest", as: Hash.self) else { return nil }
        var result = [UInt8](repeating: 0, count: 64)
        var size = result.count
        let isMade = keepingErrors {
            hash(nil, name, nil, [UInt8](data), data.count, &result, &size)
        }
        return isMade == 1 ? Data(result.prefix(size)) : nil
    }

    /// Runs an RSA operation on data.
    ///
    /// - Throws: `errSecParam` if the operation fails or the library is missing.
    static func result(
        of operation: Operation,
        _ data: Data,
        _ key: SoftwareKey,
        _ hash: KeyScheme.Hash?,
        _ padding: KeyScheme.Padding
    ) throws(KeychainFailure) -> Data {
        let made: Data? = installed?
            .with(key, operation, hash, padding) { library, context in
                let name = "EVP_PKEY_\(operation.rawValue)"
                guard let transform = library.function(name, as: Transform.self) else { return nil }
                var result = [UInt8](repeating: 0, count: (key.bits + 7) / 8)
                var size = result.count
                // Security: wipe the buffer, so that a decrypted secret exists only in the caller's
                // copy.
                defer { explicit_bzero(&result, result.count) }
                guard transform(context, &result, &size, [UInt8](data), data.count) == 1 else {
                    return nil
                }
                return Data(result.prefix(size))
            }
        guard let made else { throw SoftwareKey.invalid }
        return made
    }

    /// Whether a signature is valid.
    static func verifies(
        _ signature: Data,
        of data: Data,
        _ key: SoftwareKey,
        _ hash: KeyScheme.Hash?,
        _ padding: KeyScheme.Padding
    ) -> Bool {
        let isValid: Bool? = installed?
            .with(key, .verify, hash, padding) { library, context in
                let name = "EVP_PKEY_verify"
                guard let compare = library.function(name, as: Compare.self) else { return nil }
                let (signature, data) = ([UInt8](signature), [UInt8](data))
                return compare(context, signature, signature.count, data, data.count) == 1
            }
        return isValid == true
    }

    /// Runs `body` with a context that is prepared for an operation.
    private func with<Value>(
        _ key: SoftwareKey,
        _ operation: Operation,
        _ hash: KeyScheme.Hash?,
        _ padding: KeyScheme.Padding,
        _ body: (OpenSSL, Object) -> Value?
    ) -> Value? {
        var choices = [("rsa_padding_mode", padding.rawValue)]
        // By default the mask generation of PSS and OAEP uses the same hash.
        if let hash { choices.append((padding == .oaep ? "rsa_oaep_md" : "digest", hash.rawValue)) }
        if padding == .pss { choices.append(("rsa_pss_saltlen", "digest")) }
        let needsPrivate = operation == .sign || operation == .decrypt
        guard
            let decode = function(
                needsPrivate ? "d2i_PrivateKey" : "d2i_PublicKey",
                as: Decode.self
            ),
            let make = function("EVP_PKEY_CTX_new", as: Make.self),
            let freeKey = function("EVP_PKEY_free", as: Free.self),
            let freeContext = function("EVP_PKEY_CTX_free", as: Free.self),
            let begin = function("EVP_PKEY_\(operation.rawValue)_init", as: Begin.self),
            let choose = function("EVP_PKEY_CTX_ctrl_str", as: Choose.self)
        else { return nil }
        return keepingErrors {
            let made = (needsPrivate ? key.bytes : key.publicBytes)
                .withUnsafeBytes { bytes in
                    var place = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                    return decode(Self.rsa, nil, &place, bytes.count)
                }
            defer { freeKey(made) }
            guard let made, let context = make(made, nil) else { return nil }
            defer { freeContext(context) }
            guard begin(context) == 1, choices.allSatisfy({ choose(context, $0, $1) == 1 }) else {
                return nil
            }
            return body(self, context)
        }
    }

    /// Removes errors from OpenSSL's queue, which the program itself may use.
    private func keepingErrors<Value>(_ body: () -> Value) -> Value {
        _ = function("ERR_set_mark", as: Mark.self)?()
        defer { _ = function("ERR_pop_to_mark", as: Mark.self)?() }
        return body()
    }
}
#endif

import ClientTestSupport
// The only import of the API: Security has to re-export the modules that Apple's Security does.
import Security
import TestSupport
import Testing

/// Tests the names that existing code uses.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct NameTests {
    @Test("Random bytes fill the whole buffer, and differ between calls")
    func random() {
        var (first, second) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 0, count: 64))
        #expect(SecRandomCopyBytes(kSecRandomDefault, 64, &first) == errSecSuccess)
        #expect(SecRandomCopyBytes(nil, 48, &second) == errSecSuccess)
        #expect(first != second)
        #expect(Set(first[48...]) != [0])
        // The call must not write beyond the requested size.
        #expect(second[48...].allSatisfy { $0 == 0 })
        #expect(SecRandomCopyBytes(kSecRandomDefault, 0, &first) == errSecSuccess)
    }

    @Test("Type identifiers differ between types")
    func types() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
        )
        let objects: [(CFTypeRef, CFTypeID)] = [
            (control, SecAccessControlGetTypeID()),
            ("text" as NSString, CFStringGetTypeID()),
            (NSMutableString(string: "text"), CFStringGetTypeID()),
            (Data([1]) as NSData, CFDataGetTypeID()),
            (["a": 1] as NSDictionary, CFDictionaryGetTypeID()),
            ([1] as NSArray, CFArrayGetTypeID()),
            (NSDate(), CFDateGetTypeID()),
            (NSError(domain: "d", code: 1), CFErrorGetTypeID()),
            (NSNumber(value: 1), CFNumberGetTypeID()),
            (NSNumber(value: 1.5), CFNumberGetTypeID()),
            (NSNumber(value: true), CFBooleanGetTypeID()),
            (kCFBooleanFalse as CFTypeRef, CFBooleanGetTypeID()),
        ]
        for (object, type) in objects { #expect(CFGetTypeID(object) == type, "\(object)") }
        let all = [
            SecKeyGetTypeID(), SecAccessControlGetTypeID(), SecCertificateGetTypeID(),
            SecTrustGetTypeID(), SecPolicyGetTypeID(), SecIdentityGetTypeID(), CFStringGetTypeID(),
            CFDataGetTypeID(), CFDictionaryGetTypeID(), CFArrayGetTypeID(), CFDateGetTypeID(),
            CFErrorGetTypeID(), CFNumberGetTypeID(), CFBooleanGetTypeID(),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test("Core Foundation calls compare, hash and read values")
    func values() {
        let bytes: [UInt8] = [1, 2, 3]
        let data = CFDataCreate(kCFAllocatorDefault, bytes, 3)
        #expect(CFDataGetLength(data) == 3)
        #expect(CFDataGetBytePtr(data)?[2] == 3)
        #expect(CFEqual(data, Data(bytes) as NSData))
        #expect(!CFEqual(data, Data([1, 2]) as NSData))
        #expect(CFHash(data) == CFHash(Data(bytes) as NSData))
        #expect(CFBooleanGetValue(NSNumber(value: true)))
        #expect(CFArrayGetCount([1, 2] as NSArray) == 2)
        #expect(CFDictionaryGetCount(["a": 1] as NSDictionary) == 1)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
        let error = NSError(
            domain: "d",
            code: 1,
            userInfo: [NSLocalizedFailureReasonErrorKey: "because"]
        )
        #expect(CFErrorCopyFailureReason(error) as String? == "because")
    }

    @Test("Errors can be made by Core Foundation calls, and numbers named by four characters")
    func coreFoundationNames() {
        let domain = NSOSStatusErrorDomain as CFErrorDomain
        let info = [kCFErrorLocalizedDescriptionKey as String: "because"] as CFDictionary
        let error = CFErrorCreate(kCFAllocatorDefault, domain, CFIndex(errSecParam), info)!
        #expect(CFErrorGetDomain(error) == kCFErrorDomainOSStatus)
        #expect(CFErrorCopyDescription(error) as String == "because")
        #expect(CFErrorGetCode(CFErrorCreate(nil, domain, 7, nil)) == 7)
        let code: FourCharCode = 0x6162_6364
        #expect(OSType(code) == 1_633_837_924)
        #expect(kSecAttrPersistentReference as String == "persistref")
    }

    @Test("Every status has a sentence and Apple's number")
    func statuses() {
        let known: [(OSStatus, OSStatus)] = [
            (errSecDiskFull, -34), (errSecInvalidOwnerEdit, -25244),
            (errSecNoTrustSettings, -25263),
            (errSecPkcs12VerifyFailure, -25264), (errSecInvalidTrustSettings, -25262),
            (errSecInvalidSignature, -67688),
            (errSecTimestampRevocationNotification, -67898), (errSecCertificateRevoked, -67820),
        ]
        for (status, number) in known {
            #expect(status == number)
            #expect(SecCopyErrorMessageString(status, nil) as String? != nil, "\(status)")
        }
        #expect(SecCopyErrorMessageString(12_345, nil) == nil)
        let sentence = SecCopyErrorMessageString(errSecItemNotFound, nil) as String?
        #expect(sentence == "The specified item could not be found in the keychain.")
    }

    @Test("Every algorithm has Apple's name")
    func algorithms() {
        let known: [(SecKeyAlgorithm, String)] = [
            (.rsaSignatureDigestPSSSHA224, "algid:sign:RSA:digest-PSS:SHA224:SHA224:24"),
            (.rsaSignatureMessagePSSSHA256, "algid:sign:RSA:message-PSS:SHA256:SHA256:32"),
            (.rsaSignatureDigestPKCS1v15Raw, "algid:sign:RSA:digest-PKCS1v15"),
            (.ecdsaSignatureMessageRFC4754SHA512, "algid:sign:ECDSA:message-RFC4754:SHA512"),
            (.rsaEncryptionOAEPSHA512AESGCM, "algid:encrypt:RSA:OAEP:SHA512:AESGCM"),
            (
                .eciesEncryptionCofactorVariableIVX963SHA384AESGCM,
                "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
            ),
            (.ecdhKeyExchangeStandardX963SHA1, "algid:keyexchange:ECDH:KDFX963:SHA1"),
        ]
        for (algorithm, text) in known { #expect(algorithm.rawValue as String == text) }
    }

    @Test("Calls for certificates and trust fail with errSecUnimplemented")
    func certificates() {
        #expect(SecCertificateCreateWithData(nil, Data([0x30]) as NSData) == nil)
        var trust: SecTrust?
        let none = [SecCertificate]() as NSArray
        let policy = SecPolicyCreateBasicX509()
        #expect(SecTrustCreateWithCertificates(none, policy, &trust) == errSecUnimplemented)
        #expect(trust == nil)
        var items: CFArray?
        let options = [kSecImportExportPassphrase: "secret"] as CFDictionary
        #expect(SecPKCS12Import(Data([0x30]) as NSData, options, &items) == errSecUnimplemented)
        #expect(items == nil)
    }

    @Test("Calls for certificates, identities and trust have Apple's signatures")
    func certificateNames() {
        // These types have no instances, so the functions can't be called.
        let ofCertificates: [Any] = [
            SecCertificateCopyData as (SecCertificate) -> CFData,
            SecCertificateCopyKey as (SecCertificate) -> SecKey?,
            SecCertificateCopySubjectSummary as (SecCertificate) -> CFString?,
            SecCertificateCopyNormalizedIssuerSequence as (SecCertificate) -> CFData?,
            SecCertificateCopyNormalizedSubjectSequence as (SecCertificate) -> CFData?,
            SecCertificateCopySerialNumberData
                as (SecCertificate, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?,
            SecCertificateCopyEmailAddresses
                as (SecCertificate, UnsafeMutablePointer<CFArray?>) -> OSStatus,
            SecCertificateCopyCommonName
                as (SecCertificate, UnsafeMutablePointer<CFString?>) -> OSStatus,
            SecIdentityCopyPrivateKey
                as (SecIdentity, UnsafeMutablePointer<SecKey?>) -> OSStatus,
            SecIdentityCopyCertificate
                as (SecIdentity, UnsafeMutablePointer<SecCertificate?>) -> OSStatus,
        ]
        let ofTrust: [Any] = [
            SecTrustEvaluate as (SecTrust, UnsafeMutablePointer<SecTrustResultType>) -> OSStatus,
            SecTrustCopyKey as (SecTrust) -> SecKey?,
            SecTrustCopyCertificateChain as (SecTrust) -> CFArray?,
            SecTrustGetCertificateCount as (SecTrust) -> CFIndex,
            SecTrustGetCertificateAtIndex as (SecTrust, CFIndex) -> SecCertificate?,
            SecTrustSetPolicies as (SecTrust, CFTypeRef) -> OSStatus,
            SecTrustSetAnchorCertificates as (SecTrust, CFArray?) -> OSStatus,
            SecTrustSetAnchorCertificatesOnly as (SecTrust, Bool) -> OSStatus,
        ]
        #expect((ofCertificates.count, ofTrust.count) == (10, 8))
    }

    @Test("A pair from the older calls signs and verifies a digest")
    func older() async throws {
        try await ClientDesk.run { _ in
            let parameters: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits as String: 256,
                kSecPrivateKeyAttrs as String: [kSecAttrIsPermanent as String: true],
            ]
            var (publicKey, privateKey): (SecKey?, SecKey?)
            let status = SecKeyGeneratePair(parameters as CFDictionary, &publicKey, &privateKey)
            #expect(status == errSecSuccess)
            let (one, other) = (try #require(privateKey), try #require(publicKey))
            #expect(CFGetTypeID(one) == SecKeyGetTypeID())
            let digest = [UInt8](repeating: 7, count: 32)
            var (signature, count) = ([UInt8](repeating: 0, count: 128), 8)
            let short = SecKeyRawSign(one, .PKCS1, digest, 32, &signature, &count)
            #expect(short == errSecBufferTooSmall)
            count = signature.count
            #expect(SecKeyRawSign(one, .PKCS1, digest, 32, &signature, &count) == errSecSuccess)
            #expect(SecKeyRawVerify(other, .PKCS1, digest, 32, signature, count) == errSecSuccess)
            signature[count - 1] ^= 1
            let forged = SecKeyRawVerify(other, .PKCS1, digest, 32, signature, count)
            #expect(forged == errSecVerifyFailed)
        }
    }
}

import AuthEngine
import Foundation
import Security
import Testing

/// Tests the rules for access controls, which need no service.
struct AccessControlTests {
    private func refusal(
        _ flags: SecAccessControlCreateFlags,
        _ protection: CFTypeRef = kSecAttrAccessibleWhenUnlocked
    ) -> String? {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, protection, flags, &error)
        #expect((control == nil) == (error != nil))
        guard let error else { return nil }
        let reason = error.takeRetainedValue()
        #expect(CFErrorGetCode(reason) == Int(errSecParam))
        return "\(CFErrorCopyDescription(reason))"
    }

    @Test("R60: The flags or and and contradict each other")
    func operators() {
        #expect(refusal([.or, .and]) == "only one logical operation can be set")
        #expect(refusal([.or, .biometryAny, .devicePasscode]) == nil)
    }

    @Test("R61: The two biometric flags contradict each other")
    func biometries() {
        let both: SecAccessControlCreateFlags = [.biometryAny, .biometryCurrentSet]
        #expect(refusal(both) == "at most one bio constraint can be set")
    }

    @Test(
        "R62: userPresence combines only with applicationPassword and privateKeyUsage",
        arguments: [
            SecAccessControlCreateFlags.or, .and, .biometryAny, .biometryCurrentSet,
            .devicePasscode, .companion,
        ]
    )
    func presence(_ other: SecAccessControlCreateFlags) {
        #expect(refusal([.userPresence, other])?.contains("can be combined only with") == true)
        #expect(refusal([.userPresence, .applicationPassword, .privateKeyUsage]) == nil)
    }

    @Test("R63: An operator with no constraint or one constraint is valid")
    func idleOperators() {
        #expect(refusal(.or) == nil)
        #expect(refusal([.and, .biometryAny]) == nil)
        #expect(refusal([.biometryAny, .devicePasscode]) == nil)
    }

    @Test("R65: No flags are valid; an unknown protection is not")
    func protection() {
        #expect(refusal([]) == nil)
        for wrong in ["", "ak ", "akp", "genp"] {
            #expect(refusal([], wrong as NSString) == "SecAccessControl: invalid protection")
        }
        #expect(refusal([], NSNumber(value: 1)) == "SecAccessControl: invalid protection")
    }

    @Test("An unknown bit is refused")
    func unknownBit() {
        #expect(refusal(SecAccessControlCreateFlags(rawValue: 1 << 2)) != nil)
    }

    @Test("The library and the service accept equal combinations of flags")
    func everyCombination() {
        let flags: [SecAccessControlCreateFlags] = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or,
            .and, .privateKeyUsage, .applicationPassword,
        ]
        for bits in 0..<(1 << flags.count) {
            let set = flags.indices.reduce(into: SecAccessControlCreateFlags()) { set, index in
                if bits >> index & 1 == 1 { set.insert(flags[index]) }
            }
            let service = Result {
                try AccessControl(flags: AccessControl.Flags(rawValue: UInt64(set.rawValue)))
            }
            let isAccepted = if case .success = service { true } else { false }
            #expect((refusal(set) == nil) == isAccepted, "\(set.rawValue)")
        }
    }
}

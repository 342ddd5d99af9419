import Contract
import Testing

@testable import AuthEngine

/// R60 to R67, R69, R70 and L8, for every combination of flags.
@Suite("Access control")
struct AccessControlTests {
    private typealias Flags = AccessControl.Flags

    private static let all: [Flags] = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and,
        .privateKeyUsage, .applicationPassword,
    ]

    /// Every subset of the flags.
    private static var combinations: [Flags] {
        (0..<1 << all.count)
            .map { bits in
                Flags(all.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element))
            }
    }

    private func refusal(_ flags: Flags) -> AccessControl.Refusal? {
        do throws(AccessControl.Refusal) {
            _ = try AccessControl(flags: flags)
            return nil
        } catch {
            return error
        }
    }

    @Test("R60 to R62: Every combination of flags is accepted or refused with Apple's message")
    func combinations() {
        #expect(Self.combinations.count == 512)
        let apart: Flags = [
            .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and,
        ]
        var taken = 0
        for flags in Self.combinations {
            let expected: String? =
                if flags.contains(.or) && flags.contains(.and) {
                    "only one logical operation can be set"
                } else if flags.contains(.biometryAny) && flags.contains(.biometryCurrentSet) {
                    "at most one bio constraint can be set"
                } else if flags.contains(.userPresence) && !flags.isDisjoint(with: apart) {
                    "kSecAccessControlUserPresence can be combined only with "
                        + "kSecAccessControlApplicationPassword and "
                        + "kSecAccessControlPrivateKeyUsage"
                } else {
                    nil
                }
            #expect(refusal(flags)?.description == expected, "\(flags)")
            taken += expected == nil ? 1 : 0
        }
        // Three operator choices, three biometry choices, four of device, four extras; and
        // userPresence.
        #expect(taken == 3 * 3 * 4 * 4 + 4)
    }

    @Test("Every bit without a meaning is refused")
    func unknownBits() {
        for bit in 0..<64 {
            let flag = Flags(rawValue: 1 << bit)
            #expect(refusal(flag) == (Flags.known.contains(flag) ? nil : .unknownFlags))
        }
        #expect(Flags.known.rawValue == 0xC000_C03B)
    }

    @Test("R65: Known accessibilities are accepted; dk and dku read as ak")
    func accessibilities() throws {
        for word in ["ak", "ck", "aku", "cku", "akpu"] {
            let control = try AccessControl(flags: 0, accessible: word)
            #expect(control.accessibility.rawValue == word)
            #expect(control.needsPasscodeSet == (word == "akpu"))
        }
        for word in ["dk", "dku"] {
            #expect(try AccessControl(flags: 0, accessible: word).accessibility == .whenUnlocked)
        }
        for word in ["", "AK", "ak ", "akup", "x"] {
            let error = #expect(throws: AccessControl.Refusal.self) {
                try AccessControl(flags: 0, accessible: word)
            }
            #expect(error?.description == "SecAccessControl: invalid protection")
        }
    }

    @Test("R70: An access control and an accessibility for one item are refused")
    func exclusive() throws {
        let plain = try AccessControl(flags: nil, accessible: nil, attribute: "akpu")
        #expect(plain == (try AccessControl(accessibility: .whenPasscodeSet)))
        for (flags, accessible) in [(0, nil), (nil, "ak"), (1, "ak")] as [(UInt64?, String?)] {
            #expect(throws: AccessControl.Refusal.accessibleTwice) {
                try AccessControl(flags: flags, accessible: accessible, attribute: "ak")
            }
        }
        #expect(try AccessControl(flags: nil, accessible: nil) == AccessControl())
    }

    /// Computes the requirement in another way: whether this set of proofs is enough.
    private func isEnough(_ proved: Set<Factor>, for flags: Flags) -> Bool {
        if flags.contains(.userPresence) {
            return proved.contains(.biometry) || proved.contains(.passcode)
        }
        var met: [Bool] = []
        if flags.contains(.biometryAny) || flags.contains(.biometryCurrentSet) {
            met.append(proved.contains(.biometry))
        }
        if flags.contains(.devicePasscode) { met.append(proved.contains(.passcode)) }
        if flags.contains(.companion) { met.append(proved.contains(.companion)) }
        let needed = flags.contains(.or) ? min(1, met.count) : met.count
        return met.count { $0 } >= needed
    }

    private static let proofs: [Factor: Grant] = [
        .biometry: .finger(), .companion: .companion(), .passcode: .passcode(),
    ]

    private static var proofSets: [Set<Factor>] {
        (0..<8).map { bits in Set(Factor.allCases.filter { bits & 1 << $0.rawValue != 0 }) }
    }

    @Test("R63 to R67: Every combination, operation and set of proofs follows Apple's rules")
    func requirements() throws {
        for flags in Self.combinations {
            guard let control = try? AccessControl(flags: flags) else { continue }
            for operation in AccessOperation.allCases {
                let requirement = control.requirement(for: operation)
                #expect(
                    requirement.needsApplicationPassword == flags.contains(.applicationPassword)
                )
                for proved in Self.proofSets {
                    let isFree = operation == .createItem || operation == .createKey
                    let authorization = AccessGrant.resting(
                        on: proved.compactMap { Self.proofs[$0] },
                        for: operation,
                        uid: 1000,
                        accessControl: control
                    )
                    #expect(
                        (authorization != nil) == (isFree || isEnough(proved, for: flags)),
                        "\(flags) \(operation) \(proved)"
                    )
                    let rest = requirement.remaining(after: proved)
                    #expect(rest.isFree == (authorization != nil))
                    #expect(rest.stages.allSatisfy { $0.isDisjoint(with: proved) })
                }
            }
        }
    }

    @Test("R63: Constraints are separate stages, unless `or` joins them into one")
    func stages() throws {
        let three: Flags = [.devicePasscode, .companion, .biometryAny]
        let stages: [Set<Factor>] = [[.biometry], [.companion], [.passcode]]
        for flags in [three, three.union(.and)] {
            #expect(try AccessControl(flags: flags).requirement(for: .useItem).stages == stages)
        }
        let any = try AccessControl(flags: three.union(.or)).requirement(for: .useItem)
        #expect(any.stages == [[.biometry, .companion, .passcode]])
        #expect(Requirement.policy(for: any.stages[0]) == nil)
        let presence = try AccessControl(flags: .userPresence).requirement(for: .useItem)
        #expect(presence.stages.map(Requirement.policy) == [.biometricsOrPasscode])
        #expect(stages.map(Requirement.policy) == [.biometrics, .companion, nil])
        #expect(Requirement.policy(for: [.biometry, .companion]) == .biometricsOrCompanion)
    }

    @Test("L8: A sensor below the required strength counts as none")
    func strength() throws {
        for flags in [.biometryAny, .biometryCurrentSet, .userPresence, .companion] as [Flags] {
            let type: BiometryType = flags == .companion ? .none : .fingerprint
            let control = try AccessControl(flags: flags)
            for minimum in Strength.allCases {
                for strength in Strength.allCases {
                    let authorization = AccessGrant.resting(
                        on: [.finger(strength: strength, type: type)],
                        for: .useItem,
                        uid: 1000,
                        accessControl: control,
                        minimumStrength: minimum
                    )
                    #expect((authorization != nil) == (strength >= minimum))
                }
            }
        }
    }

    @Test("Another user's grants, an old unlock and a reused success prove nothing")
    func foreignGrants() {
        #expect(Grant.finger(uid: 1).factor(uid: 2, minimumStrength: .convenience) == nil)
        let earlier = Grant.resting(on: .earlier(.finger()), uid: 1000)
        #expect(earlier.factor(uid: 1000, minimumStrength: .convenience) == nil)
        #expect(Grant.companion().factor(uid: 1000, minimumStrength: .strong) == .companion)
        #expect(Grant.passcode().factor(uid: 1000, minimumStrength: .strong) == .passcode)
    }

    @Test("An authorization names its user, operation and access control")
    func authorization() throws {
        let control = try AccessControl(flags: .devicePasscode)
        let authorization = AccessGrant.resting(
            on: [.passcode()],
            for: .useKeySign,
            uid: 1000,
            accessControl: control
        )
        #expect(authorization?.uid == 1000)
        #expect(authorization?.operation == .useKeySign)
        #expect(authorization?.accessControl == control)
    }
}

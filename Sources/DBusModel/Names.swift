/// The rules of D-Bus for names.
enum Names {
    static let maximumLength = 255

    /// `CanEvaluate`: letters, digits and underscores, no digit first.
    static func isMember(_ name: some StringProtocol) -> Bool {
        guard let first = name.utf8.first, !isDigit(first), name.utf8.count <= maximumLength else {
            return false
        }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// `org.localauth.Context1`: two or more elements, each like a member.
    static func isInterface(_ name: String) -> Bool {
        let elements = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= maximumLength && elements.count >= 2
            && elements.allSatisfy { isMember($0) }
    }

    /// `/org/localauth/Keychain1`: one or more elements, each like a member.
    static func isPath(_ name: String) -> Bool {
        name.hasPrefix("/")
            && name.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                .allSatisfy { isMember($0) }
    }

    /// `CanEvaluate`, not `can_evaluate`: what becomes a Swift name by a change of case.
    static func isUpperCamel(_ name: some StringProtocol) -> Bool {
        isMember(name) && name.utf8.first.map(isUppercase) == true && !name.contains("_")
    }

    /// `accessControl`: a Swift name as it stands.
    static func isLowerCamel(_ name: some StringProtocol) -> Bool {
        isMember(name) && name.utf8.first.map(isUppercase) == false && !name.contains("_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isUppercase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        isUppercase(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}

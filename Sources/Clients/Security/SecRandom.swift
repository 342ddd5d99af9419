// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// A source of random bytes.
public final class SecRandom: Sendable {
    fileprivate init() {}
}

/// A source of random bytes.
public typealias SecRandomRef = SecRandom

/// The system's source of random bytes.
///
/// Optional, as Apple declares it.
public let kSecRandomDefault: SecRandomRef? = SecRandom()

/// Fills memory with random bytes of the kernel's.
///
/// The pointer is part of Apple's signature; it is written to during this call only.
///
/// - Parameters:
///   - random: ``kSecRandomDefault``.
///   - count: How many bytes.
///   - bytes: Where to.
/// - Returns: `errSecSuccess`.
public func SecRandomCopyBytes(
    _ random: SecRandomRef?,
    _ count: Int,
    // Apple's signature has it so.
    _ bytes: UnsafeMutableRawPointer
) -> Int32 {
    var generator = SystemRandomNumberGenerator()
    for index in 0..<max(0, count) {
        bytes.storeBytes(
            of: UInt8.random(in: 0...255, using: &generator),
            toByteOffset: index,
            as: UInt8.self
        )
    }
    return errSecSuccess
}

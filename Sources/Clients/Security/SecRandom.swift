// swift-format-ignore-file: AlwaysUseLowerCamelCase

public final class SecRandom: Sendable {
    fileprivate init() {}
}

public typealias SecRandomRef = SecRandom

/// The system's random number generator; optional, as Apple declares it.
public let kSecRandomDefault: SecRandomRef? = SecRandom()

/// Fills memory with random bytes of the kernel.
///
/// The pointer is part of Apple's signature, and is used during the call only.
///
/// - Parameters:
///   - random: ``kSecRandomDefault``.
///   - count: The number of bytes.
///   - bytes: The memory to fill.
/// - Returns: `errSecSuccess`.
public func SecRandomCopyBytes(
    _ random: SecRandomRef?,
    _ count: Int,
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

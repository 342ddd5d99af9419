public import BusBench
import Glibc
public import Linux

/// A secret as the contract wants it: in a sealed memfd.
public func sealed(
    _ bytes: [UInt8],
    isSealed: Bool = true
) throws(TestFailure) -> OwnedDescriptor {
    guard let memory = SealedMemory.make(),
        write(memory.rawValue, bytes, bytes.count) == bytes.count,
        !isSealed || SealedMemory.seal(memory)
    else { throw TestFailure("a memfd can't be made") }
    return memory
}

/// A text as a secret.
public func sealed(_ text: String, isSealed: Bool = true) throws(TestFailure) -> OwnedDescriptor {
    try sealed(Array(text.utf8), isSealed: isSealed)
}

import Glibc

/// SplitMix64: the same numbers again for the same seed.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// The generator of one seed.
    public init(_ seed: UInt64) { state = seed }

    /// The seed in `LOCALAUTH_SEED`, or a new one; printed.
    public init() {
        let given = getenv("LOCALAUTH_SEED").flatMap { UInt64(String(cString: $0)) }
        state = given ?? UInt64.random(in: 0...UInt64.max)
        print("LOCALAUTH_SEED=\(state)")
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

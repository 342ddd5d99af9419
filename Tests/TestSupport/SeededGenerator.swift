import Glibc

/// SplitMix64: equal seeds give equal numbers.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(_ seed: UInt64) { state = seed }

    /// Uses the seed in `LOCALAUTH_SEED` or a new seed, and prints it.
    public init() {
        let given = getenv("LOCALAUTH_SEED").flatMap { UInt64(String(cString: $0)) }
        state = given ?? UInt64.random(in: 0...UInt64.max)
        print("LOCALAUTH_SEED=\(state)")
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

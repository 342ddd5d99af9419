/// Limits of a single message.
///
/// A value beyond its limit is `InvalidArgs`. A message that is too large as a whole is
/// `LimitsExceeded`.
public enum MessageLimits {
    /// The longest string, in bytes.
    public static let string = 256 * 1024
    /// The most elements of an array.
    public static let array = 65_536
    /// The most entries of a dictionary.
    public static let dictionary = 4096
    /// The most entries of a dictionary in a message to a service with neighbours.
    static let dictionaryOfCall = 1024
    /// The longest key in such a dictionary, in bytes.
    static let nameOfCall = 256
    /// The longest byte array.
    public static let bytes = 1024 * 1024
    /// The deepest nesting of variants.
    public static let variantDepth = 16
    /// The most calls of a connection that wait for their answers.
    public static let waitingCalls = 1024
    /// The most bytes of a connection's calls before the bus has identified it.
    static let unidentifiedBytes = 4 * 1024 * 1024
    /// The most bytes of calls of all unidentified connections.
    static let unidentifiedBytesOfAll = 16 * 1024 * 1024
    /// Bytes that each unidentified connection may always have.
    static let unidentifiedBytesOfAnyone = 16 * 1024
    /// The most elements of all arrays and dictionaries of a message together.
    public static let elements = 262_144
    /// The most elements, all together, of a message to a service with neighbours.
    package static let elementsOfCall = array
    /// The most values in the variants of such a message.
    ///
    /// No valid call needs nearly as many.
    static let valuesOfCall = 8192
    /// Approximate memory of an element of an array or dictionary, beside its text.
    static let bytesOfElement = 48
    /// The largest message that is sent, in bytes.
    ///
    /// A bus disconnects a sender whose message exceeds the bus's limit, 32 MiB on most system
    /// buses.
    public static let sent = 16 * 1024 * 1024
}

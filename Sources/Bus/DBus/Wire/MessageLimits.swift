/// What one message may hold.
///
/// Anything beyond is `InvalidArgs`, a message that is too large as a whole `LimitsExceeded`.
public enum MessageLimits {
    /// The longest string, in bytes.
    public static let string = 256 * 1024
    /// The most elements of an array.
    public static let array = 65_536
    /// The most entries of a dictionary.
    public static let dictionary = 4096
    /// The same of a call, and of whatever a service receives that serves strangers.
    static let dictionaryOfCall = 1024
    /// The longest name in such a dictionary, in bytes.
    static let nameOfCall = 256
    /// The longest byte array.
    public static let bytes = 1024 * 1024
    /// The deepest nesting of variants.
    public static let variantDepth = 16
    /// The most calls of one connection that wait for their answers.
    public static let waitingCalls = 1024
    /// The most bytes of a connection's calls before the bus has identified it.
    static let unidentifiedBytes = 4 * 1024 * 1024
    /// The most bytes of calls of all unidentified connections.
    static let unidentifiedBytesOfAll = 16 * 1024 * 1024
    /// Bytes that each unidentified connection has in any case.
    static let unidentifiedBytesOfAnyone = 16 * 1024
    /// The most elements of all arrays and dictionaries of a message together.
    public static let elements = 262_144
    /// The same of a call, and of whatever a service receives that serves strangers.
    package static let elementsOfCall = array
    /// The most values in the variants of such a message; none needs nearly as many.
    static let valuesOfCall = 8192
    /// What an element of an array or dictionary takes in memory, about, beside its text.
    static let bytesOfElement = 48
    /// The largest message that is sent, in bytes.
    ///
    /// A bus disconnects a sender whose message exceeds its own limit, which is 32 MiB on most
    /// system buses.
    public static let sent = 16 * 1024 * 1024
}

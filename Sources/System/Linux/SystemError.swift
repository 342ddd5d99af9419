import Glibc

/// What the system refused, or what is not private enough to be used.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure; those who use the system for something add their own.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short word.
        public let rawValue: String

        /// A kind of failure by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Somebody else has it, or too much is waiting for it.
        public static let busy = Code(rawValue: "busy")
        /// No space is left.
        public static let full = Code(rawValue: "full")
        /// Not allowed, or not private enough.
        public static let permission = Code(rawValue: "permission")
        /// The device, the file system or the kernel failed.
        public static let io = Code(rawValue: "io")
    }

    /// What kind of failure.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// The file or directory it is about.
    public let path: String

    /// The path, then the sentence.
    public var description: String { "\(path): \(message)" }

    package init(_ code: Code, _ message: String, path: String) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// A failed system call.
    package init(errno number: Int32, _ action: String, path: String) {
        let code: Code =
            switch number {
            case EACCES, EPERM, EROFS: .permission
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .io
            }
        self.init(code, "\(action): \(String(cString: strerror(number))).", path: path)
    }
}

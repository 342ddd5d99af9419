import Glibc

/// What the system refused, or what is not private enough to be used.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure; those who use the system for something add their own.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        /// A kind of failure by its word.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Somebody else has it, or too much is waiting for it.
        package static let busy = Code(rawValue: "busy")
        package static let full = Code(rawValue: "full")
        /// Not allowed, or not private enough.
        package static let permission = Code(rawValue: "permission")
        /// The device, the file system or the kernel failed.
        package static let io = Code(rawValue: "io")
    }

    package let code: Code
    package let message: String
    /// The file or directory it is about.
    package let path: String

    /// The path, then the sentence.
    package var description: String { "\(path): \(message)" }

    package init(_ code: Code, _ message: String, path: String) {
        self.code = code
        self.message = message
        self.path = path
    }

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

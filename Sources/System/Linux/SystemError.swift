import Glibc

/// A refusal of the system, or a file that is not private enough.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// Modules that use the system add their own.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Another process has the resource, or too many callers wait for it.
        package static let busy = Code(rawValue: "busy")
        package static let full = Code(rawValue: "full")
        /// Not allowed, or not private enough.
        package static let permission = Code(rawValue: "permission")
        /// The device, the file system or the kernel failed.
        package static let io = Code(rawValue: "io")
    }

    package let code: Code
    package let message: String
    /// The file or directory of the failure.
    package let path: String

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

package import CameraDevice
import Glibc
import Linux

/// Why the face sensor can't do what it was asked to.
package enum FaceFault: Error, Hashable, Sendable {
    /// Something of the camera.
    case camera(CameraFault)
    /// The template does not exist.
    case noTemplate
    /// Anything else: one sentence for people, with its remedy where there is one.
    case failed(String)

    /// What the system refused.
    init(_ error: SystemError) { self = .failed("\(error)") }

    /// A system call that failed on a file.
    static func system(_ number: Int32, _ action: String, _ path: String) -> Self {
        .failed("\(action): \(path): \(String(cString: strerror(number))).")
    }
}

/// Runs what fails as the system does, and fails as the face sensor does.
func translating<Result>(
    _ body: () throws(SystemError) -> Result
) throws(FaceFault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw FaceFault(error)
    }
}

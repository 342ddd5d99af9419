package import CameraDevice
import Glibc
import Linux

package enum FaceFault: Error, Hashable, Sendable {
    case camera(CameraFault)
    case noTemplate
    /// Any other failure: a sentence for people, with a remedy if there is one.
    case failed(String)

    init(_ error: SystemError) { self = .failed("\(error)") }

    static func system(_ number: Int32, _ action: String, _ path: String) -> Self {
        .failed("\(action): \(path): \(String(cString: strerror(number))).")
    }
}

/// Runs a body and converts its system errors to face faults.
func translating<Result>(
    _ body: () throws(SystemError) -> Result
) throws(FaceFault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw FaceFault(error)
    }
}

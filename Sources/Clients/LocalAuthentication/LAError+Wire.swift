internal import Foundation
internal import LocalAuthClient

extension LAError {
    /// Converts an error of the service.
    init(_ error: AuthenticationError) {
        let code = Code(rawValue: error.code.rawValue) ?? .systemCancel
        self.init(code, userInfo: [NSLocalizedDescriptionKey: error.message])
    }
}

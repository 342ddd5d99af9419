package import DBus
package import LocalAuthClient

/// The interface of `LAContext`, a class in another module, for `kSecUseAuthenticationContext`.
package protocol AuthenticationContextSource: AnyObject, Sendable {
    /// The service's context object.
    var remote: RemoteContext { get }
    var forbidsInteraction: Bool { get }
    /// The reason for prompts of calls without a reason; empty if unset.
    var promptReason: String { get }
    /// Whether the context is invalidated.
    var isInvalidated: Bool { get }

    /// Sends the context's prompt texts to a service that the caller has just found.
    ///
    /// - Returns: The path of the context object.
    /// - Throws: The error if the service can't create a context object.
    func prepare(on service: RemoteService) async throws(AuthenticationError) -> ObjectPath
}

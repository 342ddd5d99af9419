package import DBus
package import LocalAuthClient

/// What `kSecUseAuthenticationContext` takes: `LAContext`, which is in another module.
package protocol AuthenticationContextSource: AnyObject, Sendable {
    /// The context at the service.
    var remote: RemoteContext { get }
    /// Whether prompts are forbidden.
    var forbidsInteraction: Bool { get }
    /// The reason for prompts whose caller gives none; empty: none.
    var promptReason: String { get }
    /// Whether it was invalidated.
    var isOver: Bool { get }

    /// Tells the service what prompts on this context look like.
    ///
    /// The service is one that was just found.
    ///
    /// - Returns: The context's object.
    /// - Throws: What keeps the service from having an object for it.
    func prepare(on service: RemoteService) async throws(AuthenticationError) -> ObjectPath
}

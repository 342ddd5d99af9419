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
    /// - Returns: The context's object.
    func prepare() async throws(AuthenticationError) -> ObjectPath
}

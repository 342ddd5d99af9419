import DBus

package enum FprintFault: Error, Hashable, Sendable {
    case inUse
    /// The reader is unplugged.
    case gone
    /// fprintd has exited or cannot be started.
    case lost
    case denied
    case noPrints
    /// The finger is enrolled already, possibly for another user.
    case duplicate
    case full
    case silent
    /// This process cancelled the call.
    case canceled
    /// Any other failure: a sentence for people.
    case failed(String)

    init(_ error: DBusError) {
        let prefix = Fprint.busName + ".Error."
        let name = error.name.rawValue
        switch name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name {
        case "AlreadyInUse": self = .inUse
        case "NoSuchDevice": self = .gone
        case "PermissionDenied": self = .denied
        case "NoEnrolledPrints": self = .noPrints
        case "ClaimDevice": self = .lost
        case "Internal" where error.message.contains("removed"): self = .gone
        case "Internal" where error.message.contains("already been opened"): self = Self.wedged
        default: self = Self.fromBus(error)
        }
    }

    /// fprintd's state after a client released a reader during suspend; it recovers when it exits.
    private static let wedged = Self.failed(
        "fprintd keeps the reader open since a suspend. The reader recovers after half a minute "
            + "without use."
    )

    private static func fromBus(_ error: DBusError) -> Self {
        switch error.name {
        case .unknownObject, .unknownMethod, .unknownInterface: .gone
        case .serviceUnknown, .nameHasNoOwner, .noServer, .disconnected: .lost
        case .noReply, .timeout: .silent
        default: .failed("fprintd refused: \(error.message.prefix(200))")
        }
    }
}

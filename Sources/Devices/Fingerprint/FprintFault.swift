import DBus

/// Why fprintd did not do what it was asked to do.
package enum FprintFault: Error, Hashable, Sendable {
    /// Another program has the reader.
    case inUse
    /// The reader is not there any more.
    case gone
    /// fprintd ended, or was never there.
    case lost
    /// polkit refuses.
    case denied
    /// The user has no prints on this reader.
    case noPrints
    /// The finger is enrolled already, maybe for somebody else.
    case duplicate
    /// The reader has no room for another print.
    case full
    /// fprintd did not answer in time.
    case silent
    /// The call was stopped by ourselves.
    case canceled
    /// Anything else: one sentence for people.
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

    /// fprintd's state after a client released a reader during suspend: it recovers when it exits.
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

import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

/// Whether a prompt can be shown for this process, and a remedy if not.
struct Interaction: Sendable {
    let isPossible: Bool
    private let cause: String
    private let message: String
    private let remedy: String

    @BusActor init(_ service: RemoteService) async throws(DBusError) {
        let answer = try await RemoteService.retryingReadOnly { () throws(DBusError) in
            try await service.manager.canInteract()
        }
        isPossible = answer.available
        cause = plainText(answer.cause, limit: 64)
        message = plainText(answer.message, limit: 512)
        remedy = plainText(answer.remedy, limit: 512)
    }

    var lacksAgent: Bool { !isPossible && cause == "no-agent" }

    /// Why no prompt can be shown.
    var sentence: String { serviceText(message) }

    /// The remedy; nil when a prompt can be shown.
    var advice: String? { isPossible || remedy.isEmpty ? nil : serviceText(remedy) }

    func tellRemedy() {
        if let advice { tellNext(advice) }
    }

    var json: JSON {
        .object([
            ("available", .bool(isPossible)), ("cause", .string(cause)),
            ("message", .string(message)), ("remedy", .string(remedy)),
        ])
    }
}

import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

/// Whether somebody can be asked for this process now, and what to do where nobody can.
struct Interaction: Sendable {
    let isPossible: Bool
    private let cause: String
    private let message: String
    private let remedy: String

    @BusActor init(_ service: RemoteService) async throws(DBusError) {
        let answer = try await RemoteService.ask { () throws(DBusError) in
            try await service.manager.canInteract()
        }
        isPossible = answer.available
        cause = plainText(answer.cause, limit: 64)
        message = plainText(answer.message, limit: 512)
        remedy = plainText(answer.remedy, limit: 512)
    }

    /// Whether a prompt of our own would do.
    var lacksAgent: Bool { !isPossible && cause == "no-agent" }

    /// Why not.
    var sentence: String { serviceText(message) }

    /// What to do; nil when somebody can be asked.
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

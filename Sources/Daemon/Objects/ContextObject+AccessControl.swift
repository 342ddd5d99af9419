import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// Evaluations of access controls ahead of the keychain's calls (R71).
extension ContextObject {
    func evaluateAccessControl(
        accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> {
        let unknown = evaluations.clients.unknownOptions
        unknown.take(accessControl, of: call, among: OptionNames.accessControl)
        unknown.take(options, of: call)
        let reason = try Checked.reason(reason)
        let requester = try Requester(options)
        guard let operation = AccessOperation(rawValue: operation) else {
            throw .invalid("operation \(operation) is none of 0 to 5")
        }
        let requirement = try Self.accessControl(accessControl).requirement(for: operation)
        var options = try EvaluateOptions(options)
        guard options.uid == nil else { throw .denied("option uid is for one-shot evaluations") }
        guard !isInvalid else { throw DBusError(.invalidContext, Self.invalidated) }
        complete(&options)
        evaluatedDomainState = []
        let asksPassword = requirement.needsApplicationPassword && applicationPassword == nil
        // An access control without requirements is satisfied without a proof.
        guard !requirement.isFree || asksPassword else {
            return .now(["mechanism": .string(Mechanism.context.rawValue)])
        }
        let request = evaluations.request(
            for: operation,
            requirement,
            options,
            client: client,
            context: self,
            asksPassword: asksPassword
        )
        var text = ShownText(reason: reason, options: options)
        text.fallbackTitle = ""
        text.requester = requester
        let (asked, audience) = (text, audience)
        return .later { [self] () throws(DBusError) in
            var typed: SecretBytes?
            let outcome = await evaluations.outcome(of: request, asked, audience) { password in
                // The password is verified only when it opens an item.
                typed = password
                return .correct
            } isReleased: {
                isReleased
            }
            switch outcome {
            case .granted(let grant):
                if let typed { keep(applicationPassword: typed) }
                var result = evaluations.result(of: grant)
                result["domain-state"] = nil
                // The contract has no mechanism for the app's password, which belongs to the
                // context from here on.
                if grant.mechanism == .applicationPassword {
                    result["mechanism"] = .string(Mechanism.context.rawValue)
                }
                return result
            case .refused(let refusal): throw DBusError(refusal)
            }
        }
    }

    /// Reads an access control; a bad access control is InvalidArgs here, as any bad argument.
    private static func accessControl(
        _ values: [String: Variant]
    ) throws(DBusError) -> AccessControl {
        do throws(DBusError) {
            return try KeychainValues.accessControl(values)
        } catch {
            throw .invalid(error.message)
        }
    }
}

extension Evaluations {
    func request(
        for operation: AccessOperation,
        _ requirement: Requirement,
        _ options: EvaluateOptions,
        client: Client,
        context: ContextObject?,
        asksPassword: Bool
    ) -> Request {
        var request = Request(
            id: EvaluationID(nextID()),
            client: client.id,
            context: context?.id,
            uid: client.peer.uid,
            operation: operation,
            requirement: requirement
        )
        request.apply(options)
        request.offersFallback = false
        request.asksApplicationPassword = asksPassword
        request.minimumStrength = max(request.minimumStrength ?? keychainStrength, keychainStrength)
        return request
    }
}

package import DBus
import LocalAuthBus
import Sealing

/// Seals and submits the text that a scripted user types, for the prompts of a connection.
@BusActor package final class SealedAnswers {
    private let manager: Authentication1Proxy
    private var passcodeKeys: [String: RecipientKey] = [:]
    private var passwordPrompts: Set<String> = []

    /// Creates a submitter for the prompts of this connection.
    package init(_ connection: Connection) {
        manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
    }

    /// Records the key and stage of a prompt from Begin or Update.
    package func learn(_ prompt: String, _ stage: String?, _ details: [String: Variant]) {
        if let key = details["passcode-key"]?.asBytes { passcodeKeys[prompt] = RecipientKey(key) }
        switch stage {
        case "application-password", "application-password-required":
            passwordPrompts.insert(prompt)
        case "passcode-required": passwordPrompts.remove(prompt)
        default: break
        }
    }

    /// Submits a text as the prompt's current stage requires, without waiting for a reply.
    package func type(_ text: String, into prompt: String) {
        guard passwordPrompts.contains(prompt) else {
            return manager.sendSubmitPasscode(prompt: prompt, sealed: sealed(text, for: prompt))
        }
        onLoop { try? await self.submit(password: text, into: prompt) }
    }

    /// Submits a text as the login password.
    package func submit(passcode: String, into prompt: String) async throws(DBusError) {
        try await manager.submitPasscode(prompt: prompt, sealed: sealed(passcode, for: prompt))
    }

    package func submit(password: String, into prompt: String) async throws(DBusError) {
        let connection = manager.connection
        let keychain = Keychain1Proxy(
            connection,
            destination: manager.destination,
            path: Keychain1.path
        )
        let sealed = RecipientKey(try await keychain.sealingKey())?
            .seal(Array(password.utf8), for: .keychain, of: connection.uniqueName)
        try await manager.submitPassword(
            prompt: prompt,
            password: sealed ?? [],
            options: ["sealed": .bool(true)]
        )
    }

    /// Without a known key the text is sealed to a fresh key, which no process can open.
    private func sealed(_ text: String, for prompt: String) -> [UInt8] {
        let key = passcodeKeys[prompt] ?? RecipientKey(SealingKey().publicKey)
        return key?.seal(Array(text.utf8), for: .passcode, of: prompt) ?? []
    }
}

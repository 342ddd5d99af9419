package import DBus
import LocalAuthBus
import Sealing

/// Seals and submits the typed text of a scripted person, in the prompts of a connection.
@BusActor package final class SealedAnswers {
    private let manager: Authentication1Proxy
    private var passcodeKeys: [String: RecipientKey] = [:]
    private var passwordPrompts: Set<String> = []

    /// Submits for the prompts that this connection shows.
    package init(_ connection: Connection) {
        manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
    }

    /// Learns what Begin or Update said of a prompt.
    package func learn(_ prompt: String, _ stage: String?, _ details: [String: Variant]) {
        if let key = details["passcode-key"]?.asBytes { passcodeKeys[prompt] = RecipientKey(key) }
        switch stage {
        case "application-password", "application-password-required":
            passwordPrompts.insert(prompt)
        case "passcode-required": passwordPrompts.remove(prompt)
        default: break
        }
    }

    /// Submits a text as the stage of the prompt wants it, and waits for no answer.
    package func type(_ text: String, into prompt: String) {
        guard passwordPrompts.contains(prompt) else {
            return manager.sendSubmitPasscode(prompt: prompt, sealed: sealed(text, for: prompt))
        }
        onLoop { try? await self.submit(password: text, into: prompt) }
    }

    /// Submits a text as the password of the login.
    package func submit(passcode: String, into prompt: String) async throws(DBusError) {
        try await manager.submitPasscode(prompt: prompt, sealed: sealed(passcode, for: prompt))
    }

    /// Submits a text as an item's own password.
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

    /// Without a key the text is sealed to a fresh key, as by an agent that has read none.
    private func sealed(_ text: String, for prompt: String) -> [UInt8] {
        let key = passcodeKeys[prompt] ?? RecipientKey(SealingKey().publicKey)
        return key?.seal(Array(text.utf8), for: .passcode, of: prompt) ?? []
    }
}

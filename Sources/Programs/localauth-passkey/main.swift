import DBus
import Passkeys
import ServiceProgram

ServiceProgram(
    name: "localauth-passkey",
    abstract: "Keeps passkeys in the keychain, as the security key of this user's browsers.",
    options: [
        .value(
            "broker",
            "SOCKET",
            help: "The socket of the broker, which has the device.",
            default: "/run/localauth-passkey/broker"
        )
    ],
    defaultBus: .system
)
.main { connection, arguments in
    let authenticator = Authenticator(KeychainVault(connection))
    let link = try BrokerLink(arguments["broker"] ?? "", authenticator)
    return RunningService(stop: { link.close() })
}

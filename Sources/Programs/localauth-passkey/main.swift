import CLinux
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
        ),
        .value(
            "timeout",
            "SECONDS",
            help: "The time that a prompt waits for the user, from 1 to 600.",
            default: "120"
        ),
        .flag("exportable", help: "Make passkeys that localauthctl passkeys export can copy."),
    ],
    defaultBus: .system
)
.main { connection, arguments in
    // Other programs of the user must not read keys in memory.
    _ = forbid_tracing()
    guard let timeout = Int(arguments["timeout"] ?? ""), 1...600 ~= timeout else {
        throw UsageError("--timeout is a number of seconds from 1 to 600")
    }
    let authenticator = Authenticator(
        KeychainVault(connection, patience: .seconds(timeout)),
        makesExportable: arguments.hasFlag("exportable")
    )
    let link = try BrokerLink(arguments["broker"] ?? "", authenticator)
    return RunningService(stop: { link.close() })
}

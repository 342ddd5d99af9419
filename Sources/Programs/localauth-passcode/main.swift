import DBus
import Glibc
import LocalAuthBus
import ServiceProgram

// A check runs in a child process, which is this program started again.
if let check = PasscodeCheck(words: CommandLine.arguments) {
    check.run()
    exit(0)
}

ServiceProgram(
    name: "localauth-passcode",
    abstract: "Checks passcodes with PAM for localauthd.",
    options: [
        .value("pam-service", "NAME", help: "The PAM service to ask.", default: "localauth"),
        .value(
            "pam-directory",
            "DIR",
            help: "Where PAM service files are (default: the system's)."
        ),
        .value(
            "passcode-set",
            "WHEN",
            help: "Whether users have a passcode; auto looks at shadow.",
            default: "auto",
            allowed: ["auto", "always", "never"]
        ),
        .idleTimeout,
    ]
)
.main { connection, arguments in
    let passcode = PasscodeObject(
        daemon: DaemonCaller(on: connection),
        key: StoredSealingKey.find(in: getenv("RUNTIME_DIRECTORY").map { String(cString: $0) }),
        service: arguments["pam-service"] ?? "localauth",
        directory: arguments["pam-directory"],
        isSet: PasscodeSetting(rawValue: arguments["passcode-set"] ?? "") ?? .auto,
        leftovers: OrphanReaper()
    )
    try passcode.serve(on: connection)
    let idleness = Idleness(
        served: { connection.served },
        mayEnd: { !connection.isAnswering && passcode.isIdle },
        releaseNames: { await passcode.leave(connection) }
    )
    return RunningService(idleness: idleness, stop: { passcode.stop() })
}

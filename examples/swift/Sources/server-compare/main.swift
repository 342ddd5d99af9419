// Login with biometry, decided by the server: it compares the enrolment with the user's trusted
// enrolment.
//
//   server-compare URL enable USER PASSWORD
//   server-compare URL login USER
//   server-compare URL disable USER PASSWORD
import Foundation
import LocalAuthentication

/// Authenticates, and returns a digest of the enrolment.
@MainActor func enrolment(_ reason: String) async throws -> String {
    let context = LAContext()
    try await context.evaluatePolicy(
        .deviceOwnerAuthenticationWithBiometrics,
        localizedReason: reason
    )
    guard let state = context.evaluatedPolicyDomainState else {
        throw LAError(.biometryNotEnrolled)
    }
    return state.base64EncodedString()
}

/// Returns a permanent name for this installation.
@MainActor func device() -> String {
    if let known = UserDefaults.standard.string(forKey: "device") { return known }
    let new = UUID().uuidString
    UserDefaults.standard.set(new, forKey: "device")
    UserDefaults.standard.synchronize()
    return new
}

@MainActor func run(_ server: Server, _ words: [String]) async throws {
    switch (words.first, words.count) {
    case ("enable", 3):
        let session = try await server.logIn(words[1], words[2])
        let state = try await enrolment("log in with biometry from now on")
        let question = ["session": session, "state": state, "device": device()]
        _ = try await server.ask("biometry/enable", question)
        print("Enabled.")
    case ("login", 2):
        let state = try await enrolment("log in")
        let question = ["user": words[1], "state": state, "device": device()]
        _ = try await server.ask("biometry/login", question)
        print("Logged in.")
    case ("disable", 3):
        let session = try await server.logIn(words[1], words[2])
        _ = try await server.ask("biometry/disable", ["session": session])
        print("Disabled.")
    default:
        print("usage: server-compare URL enable USER PASSWORD | login USER | disable USER PASSWORD")
        exit(64)
    }
}

let words = Array(CommandLine.arguments.dropFirst())
guard let base = words.first.flatMap({ URL(string: $0) }) else { exit(64) }
do {
    try await run(Server(base: base), Array(words.dropFirst()))
} catch let refused as Server.Refused where refused.status == 409 {
    print("The fingerprints have changed: log in with the password, and enable it again.")
    exit(1)
} catch let refused as Server.Refused {
    print("The server refuses (\(refused.status)).")
    exit(1)
} catch {
    print("Refused: \(error.localizedDescription)")
    exit(1)
}

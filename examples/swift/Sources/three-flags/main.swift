// An app's login as a state machine with three flags: logged in before, biometry wanted, logged in
// since the start. Each process is one start of the app.
//
//   three-flags show                 the flags of a fresh start
//   three-flags login                a login by password, with an offer of biometry
//   three-flags login --decline      a login by password; the user declines biometry
//   three-flags start                a later start: biometry, or the login page
//   three-flags forget               resets the flags
import Foundation
import LocalAuthentication

var flags = LoginFlags()

func asksForBiometry(_ reason: String) async -> Bool {
    let context = LAContext()
    let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
    guard context.canEvaluatePolicy(biometry, error: nil) else { return false }
    return (try? await context.evaluatePolicy(biometry, localizedReason: reason)) ?? false
}

@MainActor func logIn(isWanted: Bool) async {
    flags.loginState = true
    flags.isAppCurrentLoginState = true
    print("Logged in: \(flags.line)")
    let isOn: Bool
    if isWanted {
        isOn = await asksForBiometry("log in with biometry from now on")
    } else {
        isOn = false
    }
    flags.startAutoLoginState = isOn
    print("\(isOn ? "Enabled" : "Declined"): \(flags.line)")
}

@MainActor func start() async {
    print("Started: \(flags.line)")
    guard flags.start == .biometry else {
        print("Login page.")
        return
    }
    if await asksForBiometry("log in") {
        flags.isAppCurrentLoginState = true
        print("Home page: \(flags.line)")
    } else {
        flags.loginState = false
        print("Login page: \(flags.line)")
    }
}

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "show": print("Before login: \(flags.line)")
case "login": await logIn(isWanted: words.last != "--decline")
case "start": await start()
case "forget": flags.forget()
default:
    print("usage: three-flags show | login [--decline] | start | forget")
    exit(64)
}
UserDefaults.standard.synchronize()

// The switch “log in with biometry” in an app's settings, which detects a changed enrolment.
//
//   settings-switch on                        authenticates, and stores the enrolment
//   settings-switch verify [--password WORD]  authenticates; after a change also by password
//   settings-switch off                       deletes the stored enrolment
import Foundation
import LocalAuthentication

let stateKey = "biometry-domain-state"
let appPassword = "swordfish"
let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

@MainActor func ask(_ context: LAContext, _ reason: String) async -> Bool {
    do {
        return try await context.evaluatePolicy(biometry, localizedReason: reason)
    } catch {
        print("Refused: \(error.localizedDescription)")
        return false
    }
}

@MainActor func switchOn() async -> Int32 {
    let context = LAContext()
    var error: NSError?
    guard context.canEvaluatePolicy(biometry, error: &error) else {
        print("The switch stays off: \(error?.localizedDescription ?? "")")
        return 1
    }
    guard await ask(context, "switch biometric login on") else {
        print("The switch goes back to off.")
        return 1
    }
    UserDefaults.standard.set(context.evaluatedPolicyDomainState, forKey: stateKey)
    print("The switch is on.")
    return 0
}

@MainActor func verify(_ password: String?) async -> Int32 {
    guard let trusted = UserDefaults.standard.data(forKey: stateKey) else {
        print("The switch is off: log in with the password.")
        return 1
    }
    let context = LAContext()
    guard await ask(context, "log in") else { return 1 }
    let state = context.evaluatedPolicyDomainState
    if state == trusted {
        print("Logged in.")
        return 0
    }
    print("The enrolment has changed: the password of the app is needed.")
    guard password == appPassword else {
        print("Not logged in.")
        return 1
    }
    UserDefaults.standard.set(state, forKey: stateKey)
    print("Logged in with the password; the new enrolment is trusted from now on.")
    return 0
}

let words = Array(CommandLine.arguments.dropFirst())
var status: Int32 = 64
switch words.first {
case "on": status = await switchOn()
case "verify": status = await verify(words.count == 3 ? words[2] : nil)
case "off":
    UserDefaults.standard.removeObject(forKey: stateKey)
    print("The switch is off.")
    status = 0
default: print("usage: settings-switch on | verify [--password WORD] | off")
}
UserDefaults.standard.synchronize()
exit(status)

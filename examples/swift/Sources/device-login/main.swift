// Device binding: a logged-in user binds a device, which later logs in by biometry alone.
//
//   device-login URL enable USER PASSWORD   logs in, authenticates, and binds new credentials
//   device-login URL button                 prints whether the login page has the button
//   device-login URL login                  authenticates, and logs the last user in
//   device-login URL unbind USER PASSWORD   logs in, and deletes the device on both sides
import Foundation
import LocalAuthentication

let defaults = UserDefaults.standard
let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

/// A message for the user.
struct Told: Error {
    let text: String
}

@MainActor func asked(_ reason: String) async throws -> LAContext {
    let context = LAContext()
    do {
        try await context.evaluatePolicy(biometry, localizedReason: reason)
    } catch {
        throw Told(text: "Refused: \(error.localizedDescription)")
    }
    return context
}

@MainActor func enable(_ server: Server, _ user: String, _ password: String) async throws {
    let session = try await server.logIn(user, password)
    let context = try await asked("log in from this device")
    let credentials = DeviceCredentials.make()
    let status = credentials.keep(for: user)
    guard status == errSecSuccess else {
        let text = SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "\(status)"
        throw Told(text: "The credentials can't be kept: \(text)")
    }
    guard let key = try await server.get("key")["key"], let sealed = credentials.sealed(for: key)
    else { throw Told(text: "The server's key can't be used.") }
    _ = try await server.ask("device/bind", ["session": session, "sealed": sealed])
    defaults.set(user, forKey: "last-user")
    defaults.set(credentials.token, forKey: "device-token")
    defaults.set(context.evaluatedPolicyDomainState, forKey: "domain-state")
    print("The device is bound.")
}

@MainActor func logIn(_ server: Server) async throws {
    guard let user = defaults.string(forKey: "last-user") else {
        throw Told(text: "This device is not bound: there is no button.")
    }
    let context = try await asked("log in as \(user)")
    guard context.evaluatedPolicyDomainState == defaults.data(forKey: "domain-state") else {
        throw Told(text: "The enrolment has changed: log in with the password, and bind again.")
    }
    guard let credentials = DeviceCredentials.read(for: user, context),
        let key = try await server.get("key")["key"], let sealed = credentials.sealed(for: key)
    else { throw Told(text: "The credentials of this device are gone.") }
    _ = try await server.ask("device/login", ["sealed": sealed])
    print("Logged in as \(user).")
}

@MainActor func unbind(_ server: Server, _ user: String, _ password: String) async throws {
    let session = try await server.logIn(user, password)
    let token = defaults.string(forKey: "device-token") ?? ""
    _ = try await server.ask("device/unbind", ["session": session, "device": token])
    DeviceCredentials.forget(for: user)
    for key in ["last-user", "device-token", "domain-state"] { defaults.removeObject(forKey: key) }
    print("The device is not bound any more.")
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, let base = URL(string: words[0]) else { exit(64) }
let server = Server(base: base)
do {
    switch (words[1], words.count) {
    case ("enable", 4): try await enable(server, words[2], words[3])
    case ("button", 2): print(defaults.string(forKey: "last-user") == nil ? "no button" : "button")
    case ("login", 2): try await logIn(server)
    case ("unbind", 4): try await unbind(server, words[2], words[3])
    default: exit(64)
    }
} catch let told as Told {
    print(told.text)
    exit(1)
} catch let refused as Server.Refused {
    print("The server refuses (\(refused.status)).")
    exit(1)
}
defaults.synchronize()

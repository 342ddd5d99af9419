// The server of the flows “device binding” and “server-side comparison”, with accounts, devices and
// enrolment states in a database.
//
//   device-server --database FILE [--port PORT]
//
// In production the server needs TLS. Devices also encrypt their credentials for this server, so
// that no log and no proxy sees a device's password.
import Foundation
import Hummingbird

var options: [String: String] = [:]
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst(), let value = words.popFirst() { options[word] = value }
guard let file = options["--database"], let port = Int(options["--port"] ?? "0") else {
    print("usage: device-server --database FILE [--port PORT]")
    exit(64)
}

let accounts = try Accounts(Database(file))
// An account for trying the server.
try await accounts.register(user: "jo", password: "correct horse")
let router = Router()
addRoutes(to: router, accounts)
let server = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { channel in
        print("Listening on \(channel.localAddress?.port ?? 0)")
        fflush(nil)
    }
)
try await server.runService()

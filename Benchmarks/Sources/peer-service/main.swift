import AuthEngine
import AuthService
import AuthStore
import DBus
import Glibc
import Linux

// The daemon's own service, peer to peer over an inherited socket: no bus, no sensor, no verifier.
// `peer-service --descriptor N STATE-DIRECTORY`; it lives until it is killed.
let arguments = CommandLine.arguments
guard arguments.count == 4, arguments[1] == "--descriptor", let number = Int32(arguments[2]) else {
    exit(64)
}

@BusActor
func serve(_ descriptor: Int32, state directory: String) async throws {
    let connection = try Connection(server: OwnedDescriptor(adopting: descriptor))
    let configuration = Configuration()
    let (store, state) = try AuthStore.open(
        directory: directory,
        now: Instant.now(),
        bootID: Boot.id() ?? "",
        settings: configuration.engineSettings(isSystemBus: false)
    )
    let service = AuthService(
        connection: connection,
        store: store,
        state: state,
        configuration: configuration
    )
    try await service.start()
}

onLoop {
    do {
        try await serve(number, state: arguments[3])
    } catch {
        exit(1)
    }
}
EventLoop.shared.run()

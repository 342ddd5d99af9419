import CFuzz
import DBus

@testable import AuthService
@testable import CameraDevice

/// Readers of foreign bytes, by name.
///
/// A reader accepts or refuses any bytes. A violated property of the result ends the process.
enum Target {
    typealias Reading = @Sendable ([UInt8]) -> Void

    static let all: [String: Reading] = [
        "frames": { bytes in
            _ = bytes.withUnsafeBufferPointer { fuzz_frames($0.baseAddress, $0.count) }
        },
        "settings": { bytes in
            _ = try? Configuration.parse(bytes: bytes, file: "fuzz")
            BusActor.assume { _ = try? SensorDescriptions.read(bytes, file: "fuzz") }
        },
        "keychain": KeychainRows.read,
        "keychain-file": KeychainRows.openChanged,
        "state": Databases.openState,
        "templates": SensorFiles.readTemplate,
        "credentials": SensorFiles.readCredential,
        "passkeys": PasskeyBytes.read,
        "ceremonies": { bytes in BusActor.assume { Ceremonies.shared.take(bytes) } },
        "fingerprints": SensorFiles.readLists,
        "messages": { bytes in BusActor.assume { MessagePeer.shared.take(bytes) } },
        "pictures": Cameras.cutPictures,
        "cameras": Cameras.look,
        "pipewire": Cameras.hearOfObjects,
    ]

    /// The target that the command line names.
    static let chosen = CommandLine.arguments.dropFirst().first.flatMap { all[$0] }

    // SAFETY: libFuzzer owns the bytes, and this call copies them.
    static func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        chosen?(Array(UnsafeBufferPointer(start: data, count: count)))
        return 0
    }
}

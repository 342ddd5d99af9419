import CFuzz
import DBus

@testable import AuthService
@testable import CameraDevice

/// What reads bytes from outside, each part by its own name.
///
/// Any bytes are read or refused; what can be told of the result holds, or the process ends.
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
        "fingerprints": SensorFiles.readLists,
        "messages": { bytes in BusActor.assume { MessagePeer.shared.take(bytes) } },
        "pictures": Cameras.cutPictures,
        "cameras": Cameras.look,
        "pipewire": Cameras.hearOfObjects,
    ]

    /// The one that the command line names.
    static let chosen = CommandLine.arguments.dropFirst().first.flatMap { all[$0] }

    // The bytes are libFuzzer's, and copied.
    static func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        chosen?(Array(UnsafeBufferPointer(start: data, count: count)))
        return 0
    }
}

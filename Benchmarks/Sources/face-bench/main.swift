import CameraDevice
import FaceSensor
import Foundation

// The face sensor's numbers on the clips: what a frame costs, from the question to the decision,
// memory, and the error rates over all pairs of photographs.
//
//   face-bench FOLDER-OF-MODELS-AND-CLIPS [HOWDY-LIKE]
let words = CommandLine.arguments
guard words.count >= 2 else {
    print("usage: face-bench FOLDER-OF-MODELS-AND-CLIPS [HOWDY-LIKE]")
    exit(64)
}
let bench = FaceBench(folder: words[1])
do {
    if words.dropFirst(2).first == "cold" {
        try await bench.coldChild()
    } else {
        try await bench.run(yardstick: words.dropFirst(2).first)
    }
} catch {
    print("face-bench: \(error)")
    exit(1)
}

import BenchSupport
import CameraDevice
import DBus
import FaceSensor
import Foundation

// Measures the face sensor on clips: the cost of a frame, an Evaluate through daemon and bus,
// and memory.
//
//   face-bench FOLDER-OF-MODELS-AND-CLIPS FOLDER-OF-THE-PROGRAMS [HOWDY-LIKE]
#if Face
let words = CommandLine.arguments
guard words.count >= 3 else {
    Report.say(
        "usage: face-bench FOLDER-OF-MODELS-AND-CLIPS FOLDER-OF-THE-PROGRAMS [HOWDY-LIKE]"
    )
    exit(64)
}
FaceEngine.chooseKernels()
let bench = FaceBench(folder: URL(filePath: words[1]).path)
do {
    if words[2] == "cold" {
        try await bench.coldChild()
    } else {
        EventLoop.shared.startThread()
        try await bench.run(
            programs: URL(filePath: words[2]).path,
            yardstick: words.dropFirst(3).first
        )
    }
} catch {
    Report.complain("face-bench: \(error)")
    exit(1)
}
#else
Report.complain("face-bench: built without the face engine: dlib is missing (make setup).")
exit(69)
#endif

import CameraDevice
import FaceSensor
import Glibc
import Linux

/// Prints the engine's findings about pictures, for `scripts/face-figures`.
///
/// `FaceFigures MODELS` reads a file name of a JPEG picture from each line. The line that answers
/// it has the number of faces, the width, yaw and eyes of the largest, and the face's numbers.
@main
enum FaceFigures {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else { throw FaceFault.failed("no models named") }
        FaceEngine.chooseKernels()
        let models = FaceModels(folder: CommandLine.arguments[1])
        let engine = try FaceEngine(models: try models.load())
        while let path = readLine() {
            let file = OwnedDescriptor.open(path, O_RDONLY)
            let sight = file?.content(limit: Frame.maximumBytes)
                .flatMap { engine.look(Frame(jpeg: $0)) }
            guard let sight else {
                print("-1")
                continue
            }
            let face = sight.face.map { "\($0.size) \($0.yaw) \($0.eyes)" } ?? "0 0 0"
            let numbers = sight.numbers?.values.map { "\($0)" }.joined(separator: " ") ?? ""
            print(sight.count, face, numbers)
        }
    }
}

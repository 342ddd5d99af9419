import FaceSensor
import SensorKit
import ServiceProgram

FaceEngine.chooseKernels()

// Fetching models needs neither a bus nor a camera.
if CommandLine.arguments.dropFirst().contains("--fetch-models") { FetchModels.main() }

SensorProgram(
    name: "localauth-sensor-face",
    abstract: "Recognises the user with a camera. A webcam is for comfort: a photograph may pass.",
    options: FaceSettings.options
)
.main { host, arguments in
    try await FaceDriver(host: host, settings: FaceSettings(arguments))
}

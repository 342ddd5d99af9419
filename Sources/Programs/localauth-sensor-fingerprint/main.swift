import SensorKit

SensorProgram(
    name: "localauth-sensor-fingerprint",
    abstract: "The fingerprint readers of fprintd, which it looks for on the system bus."
)
.serve { roster, _ in
    try await Readers(roster).start()
}

import SecurityKey
import SensorKit

SensorProgram(
    name: "localauth-sensor-fido2",
    abstract: "Security keys (FIDO2) as companions: who enrolled one proves it by a touch.",
    options: KeySensor.options
)
.main { host, arguments in
    try await KeySensor(host: host, arguments)
}

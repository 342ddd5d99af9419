import SensorKit
import ServiceProgram

SensorProgram(
    name: "localauth-sensor-simulated",
    abstract: "A simulated sensor for tests and for authors of apps: proves nothing about anybody.",
    options: [
        .value(
            "name",
            "NAME",
            help: "Its bus name is org.localauth.Sensor1.NAME.",
            default: "Simulated"
        ),
        .value(
            "type",
            "TYPE",
            help: "What it pretends to look at.",
            default: "fingerprint",
            allowed: ["fingerprint", "face", "iris", "companion"]
        ),
    ]
)
.main { host, arguments in
    SimulatedSensor(
        host: host,
        name: arguments["name"] ?? "Simulated",
        type: SimulatedSensor.type(named: arguments["type"] ?? "")
    )
}

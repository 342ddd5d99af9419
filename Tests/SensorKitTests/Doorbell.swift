import BusBench
import DBus
import SensorContract

extension SensorFixture {
    /// An example sensor, driven by lines on its standard input.
    static func doorbell(
        _ program: [String],
        patience: Duration = .seconds(60),
        promptness: Duration = .seconds(20)
    ) -> SensorFixture {
        SensorFixture(
            program: program,
            name: "Doorbell",
            hasStream: true,
            patience: patience,
            promptness: promptness,
            plug: { @BusActor isIn, bench in
                bench.program.tell(isIn ? "plug" : "unplug")
                await bench.settle()
            },
            present: { isMatching, bench in
                bench.program.tell(isMatching ? "match" : "no-match")
                await bench.settle()
            }
        )
    }
}

import DBus
import Testing

@testable import SensorKit

@Suite("Names of sensor faults")
struct FaultNameTests {
    @Test("Each fault of a sensor is an error of the contract, with a sentence")
    func names() {
        let named: [(SensorFault, DBusError.Name, String)] = [
            (
                .canceled, "org.localauth.Sensor1.Error.Canceled",
                "The operation was canceled."
            ),
            (.busy, "org.localauth.Sensor1.Error.Busy", "The sensor is busy."),
            (.inUse("A game has it."), "org.localauth.Sensor1.Error.Busy", "A game has it."),
            (
                .noTemplates, "org.localauth.Sensor1.Error.NoTemplates",
                "The template does not exist."
            ),
            (
                .full, "org.localauth.Sensor1.Error.Full",
                "There is no room for another template."
            ),
            (
                .duplicate, "org.localauth.Sensor1.Error.Duplicate",
                "This is enrolled already."
            ),
            (
                .disconnected, "org.localauth.Sensor1.Error.Disconnected",
                "The sensor is not connected."
            ),
            (.denied("No group."), "org.localauth.Sensor1.Error.Denied", "No group."),
            (.failed("No light."), "org.localauth.Sensor1.Error.Failed", "No light."),
        ]
        for (fault, name, sentence) in named {
            #expect(fault.error.name == name, "\(fault)")
            #expect(fault.error.message == sentence, "\(fault)")
        }
    }
}

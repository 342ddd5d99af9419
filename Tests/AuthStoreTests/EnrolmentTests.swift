import AuthStore
import Testing

struct EnrolmentTests {
    @Test("The same ids in another order, or twice, are no change")
    func order() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["2", "1"])
        #expect(enrolment.templates == ["A": ["1", "2"]])
        #expect(enrolment.generation == 1)
        enrolment.expectNoChange(sensor: "A", ids: ["1", "2"])
        enrolment.expectNoChange(sensor: "A", ids: ["2", "1", "2"])
        #expect(enrolment.generation == 1)
    }

    @Test("L12: add, remove and add again raise the generation each time")
    func generations() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "A", ids: [])
        enrolment.expectChange(sensor: "A", ids: ["1"])
        #expect(enrolment.generation == 3)
    }

    @Test("A sensor without templates leaves no trace")
    func empty() {
        var enrolment = Enrolment()
        enrolment.expectNoChange(sensor: "A", ids: [])
        #expect(enrolment == Enrolment())
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "A", ids: [])
        #expect(enrolment.templates.isEmpty)
        #expect(enrolment.generation == 2)
    }

    @Test("Sensors don't touch each other")
    func sensors() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "B", ids: ["1"])
        enrolment.expectNoChange(sensor: "A", ids: ["1"])
        #expect(enrolment.templates == ["A": ["1"], "B": ["1"]])
    }

    @Test("Two spellings of one character are two ids")
    func spelling() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["\u{E9}"])
        enrolment.expectChange(sensor: "A", ids: ["e\u{301}"])
        enrolment.expectChange(sensor: "A", ids: ["e\u{301}", "\u{E9}"])
        #expect(enrolment.templates["A"]?.count == 2)
    }
}

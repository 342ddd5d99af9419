import AuthStore
import Testing

struct EnrolmentTests {
    @Test("Reordered or repeated ids are no change")
    func order() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["2", "1"])
        #expect(enrolment.templates == ["A": ["1", "2"]])
        #expect(enrolment.generation == 1)
        enrolment.expectNoChange(sensor: "A", ids: ["1", "2"])
        enrolment.expectNoChange(sensor: "A", ids: ["2", "1", "2"])
        #expect(enrolment.generation == 1)
    }

    @Test("L12: Adding, removing and adding again raise the generation each time")
    func generations() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "A", ids: [])
        enrolment.expectChange(sensor: "A", ids: ["1"])
        #expect(enrolment.generation == 3)
    }

    @Test("A sensor without templates leaves no entry")
    func empty() {
        var enrolment = Enrolment()
        enrolment.expectNoChange(sensor: "A", ids: [])
        #expect(enrolment == Enrolment())
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "A", ids: [])
        #expect(enrolment.templates.isEmpty)
        #expect(enrolment.generation == 2)
    }

    @Test("Sensors do not affect each other")
    func sensors() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["1"])
        enrolment.expectChange(sensor: "B", ids: ["1"])
        enrolment.expectNoChange(sensor: "A", ids: ["1"])
        #expect(enrolment.templates == ["A": ["1"], "B": ["1"]])
    }

    @Test("Two Unicode spellings of a character are two ids")
    func spelling() {
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["\u{E9}"])
        enrolment.expectChange(sensor: "A", ids: ["e\u{301}"])
        enrolment.expectChange(sensor: "A", ids: ["e\u{301}", "\u{E9}"])
        #expect(enrolment.templates["A"]?.count == 2)
    }
}

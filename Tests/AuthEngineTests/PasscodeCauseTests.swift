import AuthEngine
import Contract
import Testing

@Suite("Causes of a required passcode")
struct PasscodeCauseTests {
    @Test(
        "A text that an earlier version stored as a cause reads as a program's",
        arguments: ["the device was reported as lost", "remote lock", "required", ""]
    )
    func earlierFormat(_ stored: String) {
        #expect(PasscodeCause(stored: stored) == PasscodeCause(.program))
    }

    @Test("An administrator's cause replaces a program's and an earlier one; nothing else does")
    func replaced() {
        let (program, lost) = (PasscodeCause(.program), PasscodeCause.remote("lost"))
        let (remote, damaged) = (PasscodeCause(.remote), PasscodeCause(.damaged))
        let rows = [
            (program, lost, lost), (lost, remote, remote), (lost, program, lost),
            (program, damaged, program), (damaged, lost, damaged),
        ]
        for (first, second, kept) in rows {
            var desk = Desk(.finger)
            for cause in [first, second] {
                desk.send(.passcodeRequired(uid: Desk.uid, cause: cause))
            }
            #expect(desk.engine.records[Desk.uid]?.passcodeCause == kept, "\(first), \(second)")
            #expect(desk.lastWrite?.passcodeCause == kept)
        }
    }
}

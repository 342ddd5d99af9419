import Linux
import Testing

struct BootTests {
    @Test("L10: the boot has one id, and its clock doesn't go back")
    func boot() {
        #expect(Boot.id()?.count == 36)
        #expect(Boot.id() == Boot.id())
        let first = Boot.nanoseconds()
        #expect(first > 0)
        #expect(Boot.nanoseconds() >= first)
    }
}

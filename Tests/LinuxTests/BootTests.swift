import Foundation
import Glibc
import Linux
import Testing

struct BootTests {
    @Test("L10: a boot has one id, and its clock is the kernel's, which cannot be set")
    func boot() throws {
        let id = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(Boot.id()?.count == 36)
        #expect(Boot.id().map { $0 + "\n" } == id)
        func kernels() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let before = kernels()
        let told = Boot.nanoseconds()
        #expect(before > 0 && before <= told)
        #expect(told <= kernels())
    }
}

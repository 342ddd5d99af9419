import Glibc
import Linux
import Testing

/// What a secret is handed to another process in.
struct SealedMemoryTests {
    @Test("No program inherits what a secret lies in, and nobody changes it once it is sealed")
    func sealed() throws {
        let memory = try #require(SealedMemory.make())
        #expect(fcntl(memory.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(memory.write([1, 2]))
        #expect(SealedMemory.seal(memory))
        #expect(!memory.write([3]))
    }
}

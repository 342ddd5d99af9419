import Glibc

/// How `localauthctl` ended, and what it wrote.
package struct Ended: Sendable {
    /// Its exit status.
    package let status: Int32
    /// What stood on standard output.
    package let output: String
    /// What stood on standard error.
    package let errors: String
}

/// Runs `localauthctl` away from any terminal, and waits for its end.
package func control(
    _ arguments: String...,
    environment: [String: String] = [:]
) async throws -> Ended {
    try await control(arguments, environment: environment)
}

/// Runs `localauthctl` away from any terminal, and waits for its end.
package func control(
    _ arguments: [String],
    environment: [String: String] = [:]
) async throws -> Ended {
    var output: [Int32] = [0, 0]
    var errors: [Int32] = [0, 0]
    try streamPair(&output)
    try streamPair(&errors)
    let process = try ChildProcess(
        localauthctl(),
        arguments,
        environment: environment,
        descriptors: [1: output[1], 2: errors[1]],
        hasSession: true
    )
    close(output[1])
    close(errors[1])
    let texts = readAll([output[0], errors[0]])
    return Ended(status: process.status(), output: texts[0], errors: texts[1])
}

/// The program, which is built beside the tests.
package func localauthctl() -> String { builtProgram("localauthctl") }

/// A program of the project, which is built beside the tests.
package func builtProgram(_ name: String) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let size = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
        decoding: buffer.prefix(max(0, size)).map(UInt8.init(bitPattern:)),
        as: UTF8.self
    )
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    return "/\(folder)/\(name)"
}

/// Reads all of them side by side: whoever writes to one must not wait for the end of another.
private func readAll(_ descriptors: [Int32]) -> [String] {
    var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var texts = descriptors.map { _ in [UInt8]() }
    var chunk = [UInt8](repeating: 0, count: 4096)
    while polls.contains(where: { $0.fd >= 0 }), poll(&polls, nfds_t(polls.count), -1) > 0 {
        for index in polls.indices where polls[index].fd >= 0 && polls[index].revents != 0 {
            let count = read(polls[index].fd, &chunk, chunk.count)
            if count > 0 {
                texts[index] += chunk[..<count]
            } else {
                close(polls[index].fd)
                polls[index].fd = -1
            }
        }
    }
    return texts.map { String(decoding: $0, as: UTF8.self) }
}

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
    let written = readAll(output[0])
    let said = readAll(errors[0])
    return Ended(status: process.status(), output: written, errors: said)
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

private func readAll(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    close(descriptor)
    return String(decoding: bytes, as: UTF8.self)
}

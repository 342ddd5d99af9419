import BusBench

/// Runs `localauthctl` away from any terminal, and waits for its end.
package func control(
    _ arguments: String...,
    environment: [String: String] = [:]
) async throws -> ChildProcess.Ended {
    try await control(arguments, environment: environment)
}

/// Runs `localauthctl` away from any terminal, and waits for its end.
package func control(
    _ arguments: [String],
    environment: [String: String] = [:]
) async throws -> ChildProcess.Ended {
    try await ChildProcess(
        ["localauthctl"] + arguments,
        environment: environment,
        hasSession: true
    )
    .ended(within: .seconds(60))
}

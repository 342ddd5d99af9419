import BusBench

/// Runs `localauthctl` without a terminal, and waits for its exit.
package func control(
    _ arguments: String...,
    environment: [String: String] = [:]
) async throws -> ChildProcess.Ended {
    try await control(arguments, environment: environment)
}

/// Runs `localauthctl` without a terminal, and waits for its exit.
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

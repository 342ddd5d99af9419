/// All requirements of the contract for a sensor, as checks of any sensor's process.
///
/// Use as `@Test(arguments: SensorContractSuite.checks)` with ``SensorCheck/run(_:)``.
public enum SensorContractSuite {
    /// All checks; each check runs with a new bus and sensor process.
    public static let checks: [SensorCheck] =
        faceChecks + callerChecks + templateChecks + belongingChecks + operationChecks
        + attemptChecks + cancelChecks + cancelPointChecks + hostileChecks + processChecks
        + lifeChecks
}

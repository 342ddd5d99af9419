/// Everything that the contract asks of a sensor, as checks that any sensor process can be put
/// through: `@Test(arguments: SensorContractSuite.checks)` and ``SensorCheck/run(_:)``.
public enum SensorContractSuite {
    /// All checks; each one gets a bus and a sensor process of its own.
    public static let checks: [SensorCheck] =
        faceChecks + callerChecks + templateChecks + belongingChecks + operationChecks
        + attemptChecks + cancelChecks + cancelPointChecks + hostileChecks + processChecks
        + lifeChecks
}

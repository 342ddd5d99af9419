/// A face template may be updated from a match if the same prompt also gets the correct password.
///
/// Two cases exist: an access control requires both, or the user types the password instead of
/// confirming the match. A match alone never updates a template, or an impostor's face could be
/// added.
extension AuthEngine {
    /// Whether the match of this operation may update a template once the password confirms it.
    package func mayLearn(from operation: OperationID) -> Bool {
        running(operation).map { mayLearn($1.sensor, for: $0) } ?? false
    }

    func mayLearn(_ sensor: SensorFact, for id: EvaluationID) -> Bool {
        settings.learnsFaces && sensor.type.isPassive
            && evaluations[id]?.request.stages.contains { $0.contains(.passcode) } == true
    }
}

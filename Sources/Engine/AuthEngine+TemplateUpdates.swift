/// A face template may be updated from a match if the same prompt also gets the correct password.
///
/// Two cases exist: an access control requires both, or the user types the password instead of
/// confirming the match. A match alone never updates a template, or an impostor's face could be
/// added.
extension AuthEngine {
    /// Whether the match of this operation may update a template once the password confirms it.
    package func mayUpdateTemplate(from operation: OperationID) -> Bool {
        running(operation).map { mayUpdateTemplate($1.sensor, for: $0) } ?? false
    }

    func mayUpdateTemplate(_ sensor: SensorFact, for id: EvaluationID) -> Bool {
        settings.updatesFaceTemplates && sensor.type.isPassive
            && evaluations[id]?.request.stages.contains { $0.contains(.passcode) } == true
    }
}

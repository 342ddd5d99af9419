/// A face may be learned from where a match and a right passcode meet in one prompt.
///
/// They do in two ways: an access control asks for both, or a match waits for its confirmation and
/// the passcode is typed instead. A match alone teaches nothing.
extension AuthEngine {
    /// Whether the match of an operation may be learned from, should the passcode confirm it.
    package func mayLearn(from operation: OperationID) -> Bool {
        running(operation).map { mayLearn($1.sensor, for: $0) } ?? false
    }

    func mayLearn(_ sensor: SensorFact, for id: EvaluationID) -> Bool {
        settings.learnsFaces && sensor.type.isPassive
            && evaluations[id]?.request.stages.contains { $0.contains(.passcode) } == true
    }
}

package import Contract

/// Everything that the engine can ask of the service.
///
/// Each is one call to one edge.
package enum Effect: Hashable, Sendable {
    /// Find out the facts for this evaluation, then say `lookedUp`.
    case lookUp(EvaluationID)
    /// Show a prompt, then say `promptBegan` or `promptFailed`.
    case begin(EvaluationID, AgentID, Presentation)
    /// Tell the prompt and the caller.
    case tell(EvaluationID, Progress)
    /// Take the prompt down; one for each `begin`, whatever became of it.
    case end(EvaluationID, PromptOutcome)
    /// Start a sensor, then say what comes of it.
    case startSensor(OperationID, EvaluationID, sensor: String)
    /// Cancel a sensor's operation; nothing is awaited.
    case cancelSensor(OperationID)
    /// The passcode has confirmed this match of a sensor: it may learn from it.
    case learn(OperationID, EvaluationID, sensor: String)
    /// Answer the sensor that told of this failed attempt, however often it did.
    case answerMismatch(OperationID, attempt: UInt32, MismatchAnswer)
    /// Have the submitted passcode verified, then say `passcodeVerified`, even if the evaluation
    /// has ended by then: a wrong passcode counts in any case.
    case verifyPasscode(EvaluationID)
    /// Try the submitted password as the app's own, then say `passwordTried`.
    case takePassword(EvaluationID)
    /// Write a record, then say `saved` or `saveFailed`; in this order.
    case save(SaveID, uid: UInt32, UserRecord)
    /// Answer the caller. Exactly one for each evaluation.
    case reply(EvaluationID, Outcome)
}

/// What a sensor is answered that told of a failed attempt.
package enum MismatchAnswer: Hashable, Sendable {
    /// It is counted, and that is on the disk; at 0 the sensor is to look no more.
    case counted(attemptsLeft: Int)
    /// Nothing is counted: the operation doesn't run, or its next attempt has another number.
    case refused
    /// It is counted, but that could not be written.
    case notWritten
}

/// What a prompt shows when it comes up.
package struct Presentation: Hashable, Sendable {
    package var stage: PromptStage
    package var sensors: [String]
    /// Their types, without companions, each once, in ascending order.
    package var types: [BiometryType]
    /// Whether a match will have to be confirmed.
    package var requiresConfirmation: Bool
}

/// What happens while an evaluation runs.
package enum Progress: Hashable, Sendable {
    /// The prompt is up (for the caller alone).
    case promptShown
    /// A sensor looks.
    case sensorReady(sensor: String, type: BiometryType)
    /// Another program has a sensor, which is waited for; its name, or empty.
    case sensorBusy(sensor: String, type: BiometryType, by: String)
    /// A sensor gave up, and why.
    case sensorFailed(sensor: String, type: BiometryType, SensorFault)
    /// What to do better.
    case hint(String)
    /// A failed attempt.
    case noMatch(attemptsLeft: Int)
    /// The fallback button is there now.
    case fallbackAvailable
    /// A match waits for its confirmation.
    case confirmationRequired
    /// The passcode is asked for now.
    case passcodeRequired(cause: PasscodeCause)
    /// The app's own password is asked for now.
    case applicationPasswordRequired
    /// A wrong passcode.
    case passcodeRejected(attemptsLeft: Int)
    /// No passcode is taken for a while: a delay runs, which another prompt may have begun.
    case passcodeNotTaken
    /// It was the user (for the prompt alone).
    case success
}

/// How an evaluation ended.
package enum Outcome: Hashable, Sendable {
    /// It was the user.
    case granted(Grant)
    /// It was not, or nobody can say.
    case refused(Refusal)
}

/// Why an evaluation, or the question whether one is possible, was refused.
package struct Refusal: Error, Hashable, Sendable {
    package var code: RefusalCode
    package var message: String

    /// A refusal with one sentence for people.
    package init(_ code: RefusalCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

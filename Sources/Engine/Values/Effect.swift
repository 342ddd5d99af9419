package import Contract

/// The actions that the engine requests from the service.
///
/// Each effect is a call to a single edge.
package enum Effect: Hashable, Sendable {
    /// Look up the facts for this evaluation, then report `lookedUp`.
    case lookUp(EvaluationID)
    /// Show a prompt, then report `promptBegan` or `promptFailed`.
    case begin(EvaluationID, AgentID, Presentation)
    /// Send progress to the prompt and the caller.
    case tell(EvaluationID, Progress)
    /// Close the prompt.
    ///
    /// Every `begin` gets one `end`, even if the prompt failed.
    case end(EvaluationID, PromptOutcome)
    case startSensor(OperationID, EvaluationID, sensor: String)
    /// Cancel a sensor's operation.
    ///
    /// The engine awaits no reply.
    case cancelSensor(OperationID)
    /// Let the sensor update a template from this match, which the password has confirmed.
    case updateTemplate(OperationID, EvaluationID, sensor: String)
    /// Answer the sensor's reports of this miss, including repetitions.
    case answerMiss(OperationID, attempt: UInt32, MissAnswer)
    /// Have the submitted password verified, then report `passcodeVerified`.
    ///
    /// Report it even after the evaluation has ended, because a wrong password always counts.
    case verifyPasscode(EvaluationID)
    /// Try the submitted password as the app's own, then report `passwordTried`.
    case takePassword(EvaluationID)
    /// Write a record, then report `saved` or `saveFailed`.
    ///
    /// Keep the order of writes.
    case save(SaveID, uid: UInt32, UserRecord)
    /// Answer the caller.
    ///
    /// Each evaluation gets exactly one reply.
    case reply(EvaluationID, Outcome)
}

package enum MissAnswer: Hashable, Sendable {
    /// The miss is counted and written.
    ///
    /// At 0 the sensor must stop.
    case counted(attemptsLeft: Int)
    /// The miss is not counted: the operation does not run, or the attempt number is wrong.
    case refused
    /// The miss is counted, but the write failed.
    case notWritten
}

package struct Presentation: Hashable, Sendable {
    package var stage: PromptStage
    package var sensors: [String]
    /// The sensors' types in ascending order, without duplicates and companions.
    package var types: [BiometryType]
    package var requiresConfirmation: Bool
}

package enum Progress: Hashable, Sendable {
    /// The prompt is visible.
    ///
    /// Sent to the caller only.
    case promptShown
    /// The sensor is scanning.
    case sensorReady(sensor: String, type: BiometryType)
    /// Another program holds the sensor's device; `by` names it, or is empty.
    ///
    /// The sensor waits.
    case sensorBusy(sensor: String, type: BiometryType, by: String)
    case sensorFailed(sensor: String, type: BiometryType, SensorFault)
    /// Advice to the user for a better scan.
    case hint(String)
    case miss(attemptsLeft: Int)
    case fallbackAvailable
    case confirmationRequired
    case passcodeRequired(cause: PasscodeCause)
    case applicationPasswordRequired
    case passcodeRejected(attemptsLeft: Int)
    /// A delay keeps the prompt from accepting a password.
    ///
    /// Another prompt may have caused it.
    case passcodeNotTaken
    /// The user was authenticated.
    ///
    /// Sent to the prompt only.
    case success
}

package enum Outcome: Hashable, Sendable {
    case granted(Grant)
    /// The user was not authenticated, or the result is unknown.
    case refused(Refusal)
}

package struct Refusal: Error, Hashable, Sendable {
    package var code: RefusalCode
    package var message: String

    package init(_ code: RefusalCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

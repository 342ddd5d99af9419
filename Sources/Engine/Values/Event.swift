/// The events that the engine handles.
package enum Event: Hashable, Sendable {
    case requested(Request)
    case lookedUp(EvaluationID, Facts)
    /// The look-up failed, so the caller is unidentified.
    case lookUpFailed(EvaluationID)

    /// An agent registered.
    ///
    /// The service checks `canRegister` first.
    case agentRegistered(Agent)
    /// An agent unregistered, left the bus, or its process exited.
    case agentGone(AgentID)
    case promptBegan(EvaluationID)
    /// The agent answered Begin with an error, or could not be called.
    case promptFailed(EvaluationID)
    /// A fact behind the decision could not be confirmed when revalidated (L39).
    case revalidationFailed(EvaluationID, RevalidationFailure)
    case canceled(EvaluationID)
    case fellBack(EvaluationID)
    case confirmed(EvaluationID)

    /// The sensor is scanning.
    case sensorReady(OperationID)
    /// Another program holds the sensor's device; `by` names it, or is empty.
    ///
    /// The sensor waits.
    case sensorBusy(OperationID, by: String)
    /// The sensor sent advice for a better scan.
    case sensorHinted(OperationID, String)
    /// The `attempt`th miss of the operation.
    ///
    /// The engine answers with `answerMiss`.
    case sensorMissed(OperationID, attempt: UInt32)
    case sensorMatched(OperationID, template: String)
    /// The operation ended without a match: a fault, a lost sensor, or a cancellation.
    case sensorEnded(OperationID)
    /// The operation matched a template that was removed meanwhile.
    case templateRemoved(OperationID)
    /// The operation ended because of a fault that the user should learn of.
    case sensorFailed(OperationID, SensorFault)

    /// A sealed password arrived.
    ///
    /// Send this event only if `takesPasscode` is true.
    case passcodeOffered(EvaluationID)
    /// The app's own password arrived.
    ///
    /// Send this event only if `takesPassword` is true.
    case passwordOffered(EvaluationID)
    case passcodeVerified(EvaluationID, PasscodeVerdict)
    /// The service tried the password of `takePassword`.
    case passwordTried(EvaluationID, PasscodeVerdict)

    /// The caller set how long successes of its context stay valid.
    case successesLast(Duration, ContextID, ClientID)
    case invalidated(ContextID)
    /// The client invalidated its evaluations outside contexts.
    case oneShotsInvalidated(ClientID)
    case released(ContextID)
    case clientGone(ClientID)

    /// A program called RequirePasscode: biometry must wait for a password.
    case passcodeRequired(uid: UInt32, cause: PasscodeCause)
    /// The user unlocked the machine elsewhere (screen lock, PAM).
    ///
    /// A password clears the lockout.
    case unlocked(uid: UInt32, byPasscode: Bool)
    /// The user's last session ended.
    case loggedOut(uid: UInt32)
    /// The user's templates changed, so no context keeps a biometric success.
    case enrolmentChanged(uid: UInt32)
    case saved(SaveID)
    case saveFailed(SaveID)
    /// The session was locked or unlocked, or left the foreground.
    case interrupted(session: String, Interruption)
    /// A session ended.
    ///
    /// Successes that were proved in it no longer count. Nil means all sessions, because the
    /// service cannot tell which are unchanged.
    case sessionEnded(session: String?)
    /// The machine suspends.
    ///
    /// The engine refuses evaluations until `resumed`.
    case suspending
    case resumed
    /// The administrator's settings changed.
    ///
    /// They apply at once, and running evaluations continue.
    case configured(Settings)
    /// `nextDeadline` has passed.
    ///
    /// The event is valid at any time.
    case timePassed
    case stopping
}

package enum Interruption: Hashable, Sendable {
    case locked
    /// The lock was opened, in any way.
    case unlocked
    /// Another session is in the foreground, or the session ended.
    case left
}

package enum RevalidationFailure: Hashable, Sendable {
    case loginManagerSilent
    case templateRemoved
}

package enum PasscodeVerdict: Hashable, Sendable {
    case correct
    case wrong
    /// The verifier checked no password, so this is no attempt.
    case failed
    /// The system refused the user whatever the password, so this is no attempt.
    ///
    /// The text is the system's own reason.
    case refused(String)
    /// The verifier never answered.
    ///
    /// The password may have been wrong, so it counts as wrong.
    case lost
}

/// Everything that can happen to the engine.
package enum Event: Hashable, Sendable {
    /// Somebody called Evaluate.
    case requested(Request)
    /// The look-up for an evaluation ended.
    case lookedUp(EvaluationID, Facts)
    /// The look-up failed: who the caller is can't be said any more.
    case lookUpFailed(EvaluationID)

    /// An agent registered (the service refuses a second of one kind before that: `canRegister`).
    case agentRegistered(Agent)
    /// An agent unregistered, left the bus, or its process ended.
    case agentGone(AgentID)
    /// The agent shows the prompt.
    case promptBegan(EvaluationID)
    /// The agent answered Begin with an error, or could not be called.
    case promptFailed(EvaluationID)
    /// A fact that the decision rests on was not confirmed before the decision counted (L39).
    case revalidationFailed(EvaluationID, RevalidationFailure)
    /// Cancel in the prompt.
    case canceled(EvaluationID)
    /// The fallback button.
    case fellBack(EvaluationID)
    /// The confirmation of a passive match.
    case confirmed(EvaluationID)

    /// A sensor looks.
    case sensorReady(OperationID)
    /// Another program has a sensor's device, which the sensor waits for; its name, or empty.
    case sensorBusy(OperationID, by: String)
    /// A sensor says what to do better.
    case sensorHinted(OperationID, String)
    /// A scan that was nobody, the `attempt`th of the operation; to be answered (`answerMismatch`).
    case sensorMismatched(OperationID, attempt: UInt32)
    /// A scan that was the user; the template's id.
    case sensorMatched(OperationID, template: String)
    /// The operation ended without either: a fault, a lost sensor, canceled.
    case sensorEnded(OperationID)
    /// The operation matched with a template that was removed meanwhile.
    case templateRemoved(OperationID)
    /// The operation ended because of a fault that a person should know of.
    case sensorFailed(OperationID, SensorFault)

    /// A sealed passcode came; only where `takesPasscode`.
    case passcodeOffered(EvaluationID)
    /// The app's own password came; only where `takesPassword`.
    case passwordOffered(EvaluationID)
    /// The verifier answered.
    case passcodeVerified(EvaluationID, PasscodeVerdict)
    /// The service tried what `takePassword` was about.
    case passwordTried(EvaluationID, PasscodeVerdict)

    /// The caller wants a success of its context to stay so long.
    case successesLast(Duration, ContextID, ClientID)
    case invalidated(ContextID)
    /// Invalidate of a client's one-shots.
    case oneShotsInvalidated(ClientID)
    /// The context object is gone.
    case released(ContextID)
    /// The client left the bus.
    case clientGone(ClientID)

    /// A passcode is required before biometry may be used again (RequirePasscode).
    case passcodeRequired(uid: UInt32, cause: PasscodeCause)
    /// The user unlocked the machine elsewhere (a screen lock, PAM); a passcode clears the lockout.
    case unlocked(uid: UInt32, byPasscode: Bool)
    /// The user's last session ended.
    case loggedOut(uid: UInt32)
    /// The user's templates have changed: no context keeps a success by biometry.
    case enrolmentChanged(uid: UInt32)
    /// The store wrote a record.
    case saved(SaveID)
    /// The store could not write a record.
    case saveFailed(SaveID)
    /// The session was locked, or is not in front any more.
    case interrupted(session: String, Interruption)
    /// A session has ended, or, where it is nil, nobody can say which are still the same: what
    /// was proved in it counts no more.
    case sessionEnded(session: String?)
    /// The machine goes to sleep: nothing is evaluated until `resumed`.
    case suspending
    /// The machine is awake again.
    case resumed
    /// The administrator's settings have changed; the new ones count at once, and running
    /// evaluations continue.
    case configured(Settings)
    /// `nextDeadline` has come (or any time has passed).
    case timePassed
    /// The service stops.
    case stopping
}

/// What ended the presence of somebody at a session.
package enum Interruption: Hashable, Sendable {
    case locked
    /// Another session is in front, or it ended.
    case left
}

/// Why a decision does not count.
package enum RevalidationFailure: Hashable, Sendable {
    /// The login manager did not say whether the session is unchanged.
    case loginManagerSilent
    /// The template that matched is not enrolled any more.
    case templateRemoved
}

/// The verifier's answer about a passcode.
package enum PasscodeVerdict: Hashable, Sendable {
    /// It is the passcode.
    case correct
    /// It is not.
    case wrong
    /// Nothing was verified; no attempt.
    case failed
    /// The verifier was asked and never answered: it may have been wrong, and counts as that.
    case lost
}

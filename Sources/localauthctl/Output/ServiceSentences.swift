import Localization

/// A sentence of the service in the user's language; one that isn't known stays as it is.
///
/// The service answers in English: logs are read everywhere. Its sentences are repeated here so
/// that the catalogues have them; a test compares them with the service's sources.
func serviceText(_ sentence: String) -> String {
    translation(of: sentence, like: ServiceSentences.patterns)
}

enum ServiceSentences {
    /// Those with arguments in them.
    static let patterns =
        (refusals + devices + sensorFindings + findings + items + keychain + arguments)
        .filter { $0.contains("%1$s") }

    /// Why an evaluation is refused.
    static let refusals = [
        marked("This context was invalidated and can't be used any more."),
        marked("This connection waits for too many answers at once."),
        marked("Too many others wait for the prompt of this session."),
        marked("Who is asking could not be found out."),
        marked("Nothing in this session can show a prompt."),
        marked("The caller is in no active, unlocked session of this user."),
        marked("The user would have to be asked, and the caller forbade it."),
        marked("The time for this evaluation is over."),
        marked("The prompt did not appear in time."),
        marked("The program that shows the prompt failed or left."),
        marked("Unlocking the screen came first."),
        marked("The session was locked."),
        marked("The session is not in front any more."),
        marked("The enrolled biometry changed meanwhile."),
        marked("The machine goes to sleep."),
        marked("The authentication service stops."),
        marked("The authentication service could not write its state."),
        marked("The passcode could not be checked."),
        marked("The user canceled."),
        marked("The user chose another way."),
        marked("The caller ended the evaluation."),
        marked("No attempt matched."),
        marked("Too many wrong passcodes."),
        marked("This user has no passcode."),
        marked("No biometric sensor can be used now."),
        marked("Biometric sensors can't be used from a remote session."),
        marked("The biometric sensors failed."),
        marked("The sensor that knows this user is not connected."),
        marked("This user has not enrolled with any sensor."),
        marked("No companion device can be used now."),
        marked("The companion device failed."),
        marked("No companion device is paired with this user."),
        marked("Biometry is locked after too many failed attempts; the passcode unlocks it."),
        marked("Biometry was stopped; the passcode is required first."),
        marked("The passcode is required before biometry %1$s."),
        marked("after a restart or a logout"),
        marked("after so long without unlocking"),
        marked("after so long without one"),
        marked("because this device was locked remotely"),
        marked("because the stored state was damaged"),
        marked("Too many wrong passcodes: none is taken for another %1$s."),
        marked("Nothing has to be proved for this."),
        marked("The app's password was wrong."),
        marked("%1$s seconds"),
        marked("%1$s minutes"),
    ]

    /// Why templates stay as they are.
    static let devices = [
        marked("The call was canceled."),
        marked("The enrolment was canceled."),
        marked("The operation was canceled."),
        marked("The sensor %1$s can't be used now (%2$s)."),
        marked("The sensor failed."),
        marked("The sensor is busy."),
        marked("The sensor is not connected."),
        marked("The time for this enrolment is over."),
        marked("There is no room for another template."),
        marked("There is no such template."),
        marked("This is enrolled already."),
    ]
}

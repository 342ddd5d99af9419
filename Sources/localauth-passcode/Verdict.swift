/// The exit status of a child that has checked one passcode.
///
/// No value is 0 or 1, so a PAM module that exits the process by itself can never mean success.
enum Verdict: Int32 {
    case correct = 101
    case wrong = 102
    case noPacket = 103
    case badPacket = 104
    case unknownUser = 105
    case refusedByPAM = 106
    case failed = 107
}

/// How a child ends that has checked one passcode.
///
/// None of the numbers is 0 or 1: a PAM module that ends the process on its own never says yes.
enum Verdict: Int32 {
    case correct = 101
    case wrong = 102
    case noPacket = 103
    case badPacket = 104
    case unknownUser = 105
    case refusedByPAM = 106
    case failed = 107
}

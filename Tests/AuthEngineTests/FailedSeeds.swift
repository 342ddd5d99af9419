/// Lives that once went wrong; each is lived again in every run of the tests.
///
/// A seed goes on meaning the same life only as long as nobody changes what `Life` draws; a fault
/// that has to be remembered longer has a test of its own.
let failedSeeds: [UInt64] = [
    // Held in a session that is left meanwhile.
    6_938_821_300_243_324_637,
    // A restart is no unlock.
    1_188_930_684_225_275_064,
    // A lockout that could not be written, and is told all the same.
    2_775_528_520_097_329_825, 3_169_124_901_029_045_492,
    // An enrolment takes away the unlock that an age rule went by.
    2_560_411_861_413_684_351,
    // A logout with an unlock and no passcode.
    2_710_396_188_656_305_828,
]

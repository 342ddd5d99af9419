import Foundation
import LocalAuthentication
import Security
import Testing

/// Tests rule R20: an empty reason is a programming error.
struct EmptyReasonTests {
    @Test("R20: An empty reason stops the process with Apple's sentence")
    func stops() async throws {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "") { _, _ in }
        }
        let access = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            let protection = kSecAttrAccessibleWhenUnlocked
            guard let control = SecAccessControlCreateWithFlags(nil, protection, [], nil) else {
                return
            }
            LAContext()
                .evaluateAccessControl(
                    control,
                    operation: .useItem,
                    localizedReason: ""
                ) { _, _ in }
        }
        for ended in [result, access] {
            let said = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
            #expect(said.contains("Non-empty localizedReason must be provided."))
        }
    }
}

import ClientTestSupport
import Foundation
import Glibc
import LocalAuthentication
import SourceCompatibility5
import SourceCompatibility6
import TestSupport
import Testing

/// Runs unmodified code for Apple's systems, compiled in both language modes.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SourceCompatibilityTests {
    @Test("Types, raw values and constants equal Apple's")
    func values() {
        for finding in SourceCompatibility6.Expressions.values() {
            #expect(finding.isSo, "\(finding.name), Swift 6")
        }
        for finding in SourceCompatibility5.Expressions.values() {
            #expect(finding.isSo, "\(finding.name), Swift 5")
        }
    }

    @Test("Errors can be caught and distinguished in every usual way")
    func errors() {
        let canceled = LAError(.userCancel)
        let ways = ["pattern", "where", "com.apple.LocalAuthentication -2", "if case", "number"]
        #expect(SourceCompatibility6.Expressions.caught(canceled) == ways)
        #expect(SourceCompatibility5.Expressions.caught(canceled) == ways)
        let locked = NSError(domain: LAErrorDomain, code: -8)
        #expect(SourceCompatibility6.Expressions.sentence(locked) == "lockout")
        #expect(SourceCompatibility5.Expressions.oldSentence(locked) == "lockout")
        #expect(SourceCompatibility5.Expressions.sentence(canceled) == "cancel")
        #expect(SourceCompatibility6.Expressions.shortSentence(.touchIDLockout) == "lockout")
        #expect(SourceCompatibility5.Expressions.shortSentence(.biometryLockout) == "lockout")
        let mock = SourceCompatibility6.Expressions.MockContext()
        #expect(SourceCompatibility6.Expressions.symbol(mock) == "faceid")
        #expect(SourceCompatibility6.Expressions.sentence(CocoaError(.fileNoSuchFile)) == "unknown")
    }

    @Test("An injected subclass can replace LAContext")
    func mocks() async throws {
        for finding in try await SourceCompatibility6.Expressions.mocked() {
            #expect(finding.isSo, "\(finding.name), Swift 6")
        }
        for finding in try await SourceCompatibility5.Expressions.mocked() {
            #expect(finding.isSo, "\(finding.name), Swift 5")
        }
    }

    @Test("Closures and async calls authenticate on the real daemon")
    func evaluations() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match", "match", "match", "match")
            let six = await withCheckedContinuation { continuation in
                SourceCompatibility6.Expressions.closure {
                    continuation.resume(returning: ($0, $1 == nil))
                }
            }
            #expect(six == (true, true))
            let five = await withCheckedContinuation { continuation in
                SourceCompatibility5.Expressions.closure {
                    continuation.resume(returning: ($0, $1 == nil))
                }
            }
            #expect(five == (true, true))
            #expect(try await SourceCompatibility6.Expressions.awaiting())
            #expect(try await SourceCompatibility5.Expressions.awaiting())
        }
    }

    @Test("Dictionaries of every type are accepted, and access controls checked")
    func dictionaries() {
        #expect(SourceCompatibility6.KeychainExpressions.queries().count == 7)
        #expect(SourceCompatibility5.KeychainExpressions.queries().count == 7)
        let findings =
            SourceCompatibility6.KeychainExpressions.accessControls().map(\.isSo)
            + SourceCompatibility5.KeychainExpressions.accessControls().map(\.isSo)
        #expect(findings.allSatisfy { $0 })
    }

    @Test("An item can be added, read, updated and deleted")
    func items() async throws {
        try await ClientDesk.run { _ in
            let expected: [OSStatus] = [0, 0, 0, 0, 0, 0, errSecItemNotFound]
            #expect(SourceCompatibility6.KeychainExpressions.life("six") == expected)
            #expect(SourceCompatibility5.KeychainExpressions.life("five") == expected)
        }
    }
}

import AuthEngine
import DBus
import Foundation
import LocalAuthBus
import Testing

@testable import AuthService

@Suite("Audit records")
struct AuditRecordTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("L15: every kind has a unique 128-bit ID in lower-case hexadecimal")
    func identifiers() {
        let identifiers = AuditKind.allCases.map(\.messageID)
        #expect(Set(identifiers).count == identifiers.count)
        for id in identifiers {
            #expect(id.count == 32 && id.allSatisfy { "0123456789abcdef".contains($0) })
        }
    }

    @Test("The catalogue explains exactly the IDs in use, each with text and remedy")
    func catalogue() throws {
        let entries = try text("dbus/systemd/localauth.catalog").components(separatedBy: "\n-- ")
            .dropFirst()
        #expect(
            Set(entries.map { $0.prefix(32) }) == Set(AuditKind.allCases.map { $0.messageID[...] })
        )
        #expect(entries.count == AuditKind.allCases.count)
        let fields = Set(AuditField.allCases.map(\.rawValue))
        for entry in entries {
            let parts = entry.components(separatedBy: "\n\n")
            #expect(parts.count >= 2, "\(entry)")
            #expect(
                parts[0].contains("\nSubject: ") && parts[0].contains("\nDefined-By: localauthd")
            )
            let named = entry.matches(of: /@([A-Z_]+)@/).map { String($0.output.1) }
            #expect(Set(named).isSubset(of: fields), "\(entry)")
        }
    }

    @Test("The documentation lists exactly the existing kinds, IDs and fields")
    func page() throws {
        let lines = try text("docs/admin/audit.md").split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
        let cells = lines.map { line in
            line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
        }
        let kinds = cells.filter { !$0[0].hasPrefix("LOCALAUTH") }
        #expect(
            kinds.map { [$0[0], $0[1]] } == AuditKind.allCases.map { [$0.rawValue, $0.messageID] }
        )
        let fields = cells.filter { $0[0].hasPrefix("LOCALAUTH") }
        #expect(fields.map { $0[0] } == AuditField.allCases.map(\.rawValue))
    }

    @Test("L15: no field exists for a reason, a secret, a template or a score")
    func fields() {
        let words = ["REASON", "SECRET", "PASSCODE", "PASSWORD", "TEMPLATE", "SCORE"]
        for field in AuditField.allCases {
            #expect(!words.contains { field.rawValue.contains($0) })
            #expect(field.rawValue.hasPrefix("LOCALAUTH_"))
        }
    }

    @Test("L15: a hostile name stays one value, cut and without control characters")
    func hostileName() {
        let name = "x\nLOCALAUTH_OUTCOME=Success\u{202E}\u{0} outcome=\"Success\""
        let record = AuditRecord(
            .evaluationEnded,
            uid: 1,
            [.callerProgram: name + String(repeating: "y", count: 999), .outcome: "UserCancel"]
        )
        let value = record.fields[.callerProgram] ?? ""
        #expect(value.count == AuditRecord.longestValue)
        #expect(value.hasPrefix("xLOCALAUTH_OUTCOME=Success outcome="))
        #expect(
            record.entry.filter { $0.name == "LOCALAUTH_OUTCOME" }.map(\.value) == ["UserCancel"]
        )
        #expect(record.line.contains(" outcome=UserCancel"))
        #expect(
            record.line.contains(#"caller_program="xLOCALAUTH_OUTCOME=Success outcome=\"Success"#)
        )
        let accent = AuditRecord(.evaluationEnded, [.requester: "x\"\u{301} outcome=Success \"y"])
        #expect(accent.line.contains("requester=\"x\\\"\u{301} outcome=Success \\\"y\""))
    }

    @Test("L15: only grants from earlier proofs are limited, new proofs never")
    func proofs() {
        for mechanism in [Mechanism.biometry, .passcode, .companion, .reuse, .context] {
            let record = AuditRecord(.evaluationEnded, [.mechanism: mechanism.rawValue])
            #expect(record.isRepeatable == [.reuse, .context].contains(mechanism))
        }
        #expect(AuditRecord(.evaluationEnded, [.outcome: "UserCancel"]).isRepeatable)
        #expect(!AuditRecord(.lockoutBegan).isRepeatable)
    }

    @Test("L15: kinds that need a person, a password or the administrator are not limited")
    func limited() {
        let unlimited: Set<AuditKind> = [
            .lockoutBegan, .lockoutCleared, .passcodeDelayBegan, .learnedChanged,
            .configurationReloaded, .configurationRefused, .databaseSetAside, .serviceStarted,
            .serviceStopped, .repeated,
        ]
        for kind in AuditKind.allCases {
            #expect(kind.isRepeatable != unlimited.contains(kind), "\(kind)")
        }
    }

    @Test("L15: a call refused before its method runs gets a record of its kind")
    func refusals() {
        let kinds: [String: AuditKind] = [
            "Evaluate": .evaluationEnded, "EvaluateAccessControl": .evaluationEnded,
            "Read": .itemUsed, "ReadMatching": .itemUsed, "Sign": .itemUsed,
            "Decrypt": .itemUsed, "KeyExchange": .itemUsed,
            "Add": .itemAdded, "CreateKey": .itemAdded, "Update": .itemChanged,
            "SetSecret": .itemChanged, "Delete": .itemDeleted,
        ]
        func kind(_ member: String, _ name: DBusError.Name) -> AuditKind? {
            AuditRecord(refusalOf: member, of: 1, DBusError(name, ""))?.kind
        }
        for interface in [
            Authentication1Interface.description, Context1Interface.description,
            Device1Interface.description, Keychain1Interface.description,
        ] {
            for member in interface.methods.keys {
                #expect(kind(member, .limitsExceeded) == kinds[member], "\(member)")
                #expect(kind(member, .unknownMethod) == nil)
            }
        }
    }

    @Test("A change of a user's record yields the matching decisions", arguments: [5, 1])
    func changes(limit: Int) {
        let now = Instant(nanoseconds: 1)
        func kinds(_ before: UserRecord, _ after: UserRecord) -> [AuditKind] {
            AuditRecord.changes(from: before, to: after, uid: 1, lockoutAttempts: limit, at: now)
                .map(\.kind)
        }
        let calm = UserRecord()
        var almost = calm
        almost.misses = limit - 1
        var locked = calm
        locked.misses = limit
        var more = calm
        more.misses = limit + 1
        var remote = calm
        remote.passcodeCause = .remote("")
        var delayed = calm
        delayed.wrongPasscodes = 6
        delayed.delayedUntil = now + .seconds(60)
        #expect(kinds(calm, almost).isEmpty)
        #expect(kinds(almost, locked) == [.lockoutBegan])
        #expect(kinds(locked, more).isEmpty)
        #expect(kinds(more, calm) == [.lockoutCleared])
        #expect(kinds(calm, remote) == [.passcodeRequired])
        #expect(kinds(remote, remote).isEmpty)
        #expect(kinds(remote, calm) == [.lockoutCleared])
        #expect(kinds(remote, locked) == [.lockoutBegan])
        #expect(kinds(calm, delayed) == [.passcodeDelayBegan])
        #expect(kinds(delayed, delayed).isEmpty)
        #expect(kinds(delayed, calm).isEmpty)
        let seconds = AuditRecord.changes(
            from: calm,
            to: delayed,
            uid: 1,
            lockoutAttempts: limit,
            at: now
        )
        #expect(seconds.first?.fields[.seconds] == "60")
    }
}

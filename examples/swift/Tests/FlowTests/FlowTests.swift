import Foundation
import TestSupport
import Testing

/// Plays each flow from start to end, with a change of the enrolment in the middle.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct FlowTests {
    @Test("The settings switch detects a new enrolment, and trusts it after the app's password")
    func settingsSwitch() async throws {
        try await ExampleDesk.run { desk in
            await desk.person.will(.cancel)
            let declined = try await desk.run("settings-switch", "on")
            #expect(declined.status == 1)
            #expect(declined.said.contains("goes back to off"))
            await desk.person.will(.wait)

            try await desk.queue("match")
            #expect(try await desk.run("settings-switch", "on") == ("The switch is on.\n", 0))
            try await desk.queue("match")
            #expect(try await desk.run("settings-switch", "verify") == ("Logged in.\n", 0))

            try await desk.enroll("somebody else's finger")
            try await desk.queue("match")
            let changed = try await desk.run("settings-switch", "verify")
            #expect(changed.status == 1)
            #expect(changed.said.contains("The enrolment has changed"))
            try await desk.queue("match")
            let wrong = try await desk.run("settings-switch", "verify", "--password", "sword")
            #expect(wrong.status == 1)
            try await desk.queue("match")
            let trusted = try await desk.run("settings-switch", "verify", "--password", "swordfish")
            #expect(trusted.status == 0)
            try await desk.queue("match")
            #expect(try await desk.run("settings-switch", "verify") == ("Logged in.\n", 0))

            #expect(try await desk.run("settings-switch", "off").status == 0)
            #expect(try await desk.run("settings-switch", "verify").status == 1)
        }
    }

    @Test("The biometry tool stores users' permissions, and prompts before it deletes them")
    func biometryTool() async throws {
        try await ExampleDesk.run { desk in
            #expect(try await desk.run("biometry-tool", "type").said == "touchID\n")
            #expect(try await desk.run("biometry-tool", "can-use") == ("yes\n", 0))

            try await desk.queue("match")
            let unnamed = try await desk.run("biometry-tool", "open")
            #expect(unnamed.said == "验证成功, on the main thread: true\n")
            #expect(try await desk.run("biometry-tool", "info", "jo").said == "nothing\n")

            try await desk.queue("match")
            #expect(try await desk.run("biometry-tool", "open", "jo").status == 0)
            let same = try await desk.run("biometry-tool", "info", "jo").said
            #expect(same == "allowed: true, same enrolment: true\n")
            try await desk.enroll("somebody else's finger")
            let changed = try await desk.run("biometry-tool", "info", "jo").said
            #expect(changed == "allowed: true, same enrolment: false\n")

            await desk.person.will(.cancel)
            let canceled = try await desk.run("biometry-tool", "close", "jo")
            #expect(canceled == ("您取消了验证 (-2)\n", 1))
            #expect(try await desk.run("biometry-tool", "info", "jo").said.contains("true, "))
            await desk.person.will(.wait)
            try await desk.queue("match")
            #expect(try await desk.run("biometry-tool", "close", "jo").status == 0)
            let closed = try await desk.run("biometry-tool", "info", "jo").said
            #expect(closed == "allowed: false, same enrolment: false\n")

            await desk.person.will(.type(ScriptedVerifier.passcode))
            try await desk.queue("no-match", "no-match", "no-match")
            #expect(try await desk.run("biometry-tool", "open-with-password").status == 0)
            await desk.person.will(.wait)
            try await desk.queue("no-match", "no-match", "no-match")
            #expect(try await desk.run("biometry-tool", "open").said == "授权失败 (-1)\n")
            try await desk.queue("no-match", "no-match")
            let locked = try await desk.run("biometry-tool", "open").said
            #expect(locked == "指纹失败次数超限，被锁 (-8)\n")
        }
    }

    @Test("The three flags follow their state table")
    func threeFlags() async throws {
        try await ExampleDesk.run { desk in
            let fresh = try await desk.run("three-flags", "show").said
            #expect(fresh == "Before login: nil, nil, NO\n")
            #expect(try await desk.run("three-flags", "start").said.contains("Login page."))

            let declined = try await desk.run("three-flags", "login", "--decline").said
            #expect(declined == "Logged in: YES, nil, YES\nDeclined: YES, NO, YES\n")
            let page = try await desk.run("three-flags", "start").said
            #expect(page == "Started: YES, NO, NO\nLogin page.\n")

            try await desk.queue("match")
            let enabled = try await desk.run("three-flags", "login").said
            #expect(enabled == "Logged in: YES, NO, YES\nEnabled: YES, YES, YES\n")
            try await desk.queue("match")
            let home = try await desk.run("three-flags", "start").said
            #expect(home == "Started: YES, YES, NO\nHome page: YES, YES, YES\n")

            // This flow ignores changes of the enrolment.
            try await desk.enroll("another finger")
            try await desk.queue("match")
            let same = try await desk.run("three-flags", "start").said
            #expect(same.hasSuffix("Home page: YES, YES, YES\n"))

            await desk.person.will(.cancel)
            let failed = try await desk.run("three-flags", "start").said
            #expect(failed == "Started: YES, YES, NO\nLogin page: NO, YES, NO\n")
            let later = try await desk.run("three-flags", "start").said
            #expect(later == "Started: NO, YES, NO\nLogin page.\n")
        }
    }

    @Test("The server compares enrolments, and a changed enrolment needs the password")
    func serverCompare() async throws {
        try await ExampleDesk.run { desk in
            let url = try await server(desk)
            let wrong = try await desk.run("server-compare", url, "enable", "jo", "guess")
            #expect(wrong == ("The server refuses (401).\n", 1))
            try await desk.queue("match")
            let enabled = try await desk.run("server-compare", url, "enable", "jo", "correct horse")
            #expect(enabled == ("Enabled.\n", 0))
            try await desk.queue("match")
            let same = try await desk.run("server-compare", url, "login", "jo")
            #expect(same == ("Logged in.\n", 0))

            try await desk.enroll("somebody else's finger")
            try await desk.queue("match")
            let changed = try await desk.run("server-compare", url, "login", "jo")
            #expect(changed.status == 1)
            #expect(changed.said.hasPrefix("The fingerprints have changed"))
            try await desk.queue("match")
            let again = try await desk.run("server-compare", url, "enable", "jo", "correct horse")
            #expect(again.status == 0)
            try await desk.queue("match")
            #expect(try await desk.run("server-compare", url, "login", "jo").status == 0)

            let off = try await desk.run("server-compare", url, "disable", "jo", "correct horse")
            #expect(off == ("Disabled.\n", 0))
            try await desk.queue("match")
            let gone = try await desk.run("server-compare", url, "login", "jo")
            #expect(gone == ("The server refuses (401).\n", 1))
        }
    }

    /// Starts the server on a free port with its own database.
    private func server(_ desk: ExampleDesk) async throws -> String {
        let database = desk.folder + "/server.sqlite"
        let line = try await desk.serve("device-server", "--database", database)
        let port = try #require(line.split { $0 == " " || $0 == "\n" }.last)
        return "http://127.0.0.1:\(port)/"
    }
}
